/** The journal of a node. It acknowledges an append only when no other node can have taken the session over meanwhile. */
import { isParleyError } from '../../../../errors/parley-error.ts'
import type { Append, ImportingJournal } from '../../../../ports/journal.ts'
import type { PostgresJournal } from '../postgres-journal.ts'
import type { ChangesElsewhere } from './changes-elsewhere.ts'
import type { PostgresOwnership } from './postgres-ownership.ts'
import type { SessionClaims } from './session-claims.ts'

/** Of this node among the others. */
interface NodeOwnership {
  readonly ownership: Pick<PostgresOwnership, 'certain'>
  readonly claims: Pick<SessionClaims, 'claim' | 'lost'>
  readonly elsewhere: Pick<ChangesElsewhere, 'watch'>
}

/** What is stored is acknowledged while no other node can have counted this one out, or once that is certain again: no effect begins before. */
export function claimingJournal(
  journal: PostgresJournal,
  { ownership, claims, elsewhere }: NodeOwnership,
): ImportingJournal {
  async function acknowledged(stored: Promise<void>): Promise<void> {
    await stored
    await ownership.certain()
  }

  async function append(what: Append): Promise<void> {
    try {
      await journal.append(what)
    } catch (error) {
      const { id } = what.row
      // Of a session that was deleted nothing is found.
      const isTaken = isParleyError(error, 'JOURNAL_CONFLICT') && error.details.found > 0 && !journal.holds(id)
      if (isTaken) claims.lost(id)
      throw error
    }
  }

  return {
    append: (what) => acknowledged(append(what)),
    fork: (source, append) => acknowledged(journal.fork(source, append)),
    importSession: (pieces, last) => acknowledged(journal.importSession(pieces, last)),
    async delete(id) {
      await claims.claim(id)
      return journal.delete(id)
    },
    head: (id) => journal.head(id),
    page: (id, from, limits) => journal.page(id, from, limits),
    find: (id, wanted, limits) => journal.find(id, wanted, limits),
    read: (id, from, signal) => journal.read(id, from, signal),
    watch(listener) {
      const stop = [journal.watch(listener), elsewhere.watch(listener)]
      return () => stop.forEach((end) => end())
    },
    list: (query) => journal.list(query),
    close: () => journal.close(),
  }
}
