/** Makes a new session of the beginning of another, live or not, without opening either of them. */
import { fail, isParleyError } from '../../errors/parley-error.ts'
import type { Append, Cursor, SessionId } from '../../ports/journal.ts'
import { decideBatch } from '../domain/batch.ts'
import { encodeState, rowOf } from '../domain/state.ts'
import type { SessionPorts } from '../session-ports.ts'
import { loadState } from '../log/read-journal.ts'

/**
 * The new session has the entries of `source` up to `at`, or all that it has now, and then its own: where it comes from, and
 * the end of what the copy left open. Nothing runs in it, and the source does not notice.
 * Throws SESSION_NOT_FOUND and FORK_POINT_UNKNOWN.
 */
export async function forkSession(world: SessionPorts, source: SessionId, at?: Cursor): Promise<SessionId> {
  const { journal, clock } = world
  const found = await journal.head(source)
  if (found === undefined) return fail('SESSION_NOT_FOUND', { session: source })
  const { lastSeq: head } = found.row
  const seq = at ?? head
  if (!Number.isInteger(seq) || seq < 1 || seq > head) fail('FORK_POINT_UNKNOWN', { session: source, at: seq, head })
  const id = clock.id()
  try {
    await journal.fork(source, await ownPart(world, { id, source, seq }))
  } catch (error) {
    // Somebody has deleted the source meanwhile.
    if (isParleyError(error, 'JOURNAL_CONFLICT')) return fail('SESSION_NOT_FOUND', { session: source }, error)
    throw error
  }
  return id
}

interface Forking {
  readonly id: SessionId
  readonly source: SessionId
  readonly seq: Cursor
}

async function ownPart(world: SessionPorts, { id, source, seq }: Forking): Promise<Append> {
  const copied = await loadState(world, source, seq)
  // Deleted between two looks, its snapshot was still there and its last entries were not.
  if (copied.phase === 'absent' || copied.seq < seq) return fail('SESSION_NOT_FOUND', { session: source })
  const { state, stored } = decideBatch([{ kind: 'fork', session: source }], { ...copied, id }, world.clock.now())
  if (state.phase === 'absent') return fail('SESSION_NOT_FOUND', { session: source })
  return {
    row: rowOf(state),
    entries: stored,
    expected: seq,
    snapshot: { seq: state.seq, state: encodeState(state) },
  }
}
