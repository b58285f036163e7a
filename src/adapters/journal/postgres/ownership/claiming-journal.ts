/** The journal of the node that serves: a session is claimed before anything is decided about it. */
import type { Append, ImportingJournal, SessionId } from '../../../../ports/journal.ts'
import type { PostgresJournal } from '../postgres-journal.ts'
import type { PostgresOwnership } from './postgres-ownership.ts'

/** What is stored is acknowledged while no other node can serve, or once that is certain again: no effect begins before. */
export function claimingJournal(
  journal: PostgresJournal,
  ownership: Pick<PostgresOwnership, 'certain'>,
): ImportingJournal {
  async function claim(id: SessionId): Promise<void> {
    while (!journal.holds(id)) {
      const owner = await journal.owner(id)
      if (owner === undefined) return
      await ownership.certain()
      await journal.claim(id, owner.epoch)
    }
  }

  return {
    async append(append: Append) {
      await journal.append(append)
      await ownership.certain()
    },
    async fork(source, append) {
      await journal.fork(source, append)
      await ownership.certain()
    },
    async importSession(pieces, last) {
      await journal.importSession(pieces, last)
      await ownership.certain()
    },
    async head(id) {
      await claim(id)
      return journal.head(id)
    },
    async delete(id) {
      await claim(id)
      return journal.delete(id)
    },
    page: (id, from, limits) => journal.page(id, from, limits),
    find: (id, wanted, limits) => journal.find(id, wanted, limits),
    read: (id, from, signal) => journal.read(id, from, signal),
    watch: (listener) => journal.watch(listener),
    list: (query) => journal.list(query),
    close: () => journal.close(),
  }
}
