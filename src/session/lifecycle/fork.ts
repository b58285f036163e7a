/** Copies a session up to an entry into a new one, without opening either of them. */
import { fail, isParleyError } from '../../errors/parley-error.ts'
import type { Append, Cursor, SessionId } from '../../ports/journal.ts'
import { decideBatch } from '../domain/decide.ts'
import { encodeState, rowOf } from '../domain/state.ts'
import type { SessionPorts } from '../session-ports.ts'
import { loadState } from '../log/session-log.ts'

/**
 * The new session has the entries of `source` up to `at`, or all of them, and then entries of its own: the session and entry
 * that it was copied from, and the end of a turn that the copy left open. The source may be live; it is not affected.
 * Throws SESSION_NOT_FOUND and FORK_POINT_UNKNOWN.
 */
export async function forkSession(ports: SessionPorts, source: SessionId, at?: Cursor): Promise<SessionId> {
  const { journal, clock } = ports
  const found = await journal.head(source)
  if (found === undefined) return fail('SESSION_NOT_FOUND', { session: source })
  const { lastSeq: head } = found.row
  const seq = at ?? head
  if (!Number.isInteger(seq) || seq < 1 || seq > head) fail('FORK_POINT_UNKNOWN', { session: source, at: seq, head })
  const id = clock.id()
  try {
    await journal.fork(source, await ownEntries(ports, { id, source, seq }))
  } catch (error) {
    // The source was deleted meanwhile.
    if (isParleyError(error, 'JOURNAL_CONFLICT')) return fail('SESSION_NOT_FOUND', { session: source }, error)
    throw error
  }
  return id
}

interface Fork {
  readonly id: SessionId
  readonly source: SessionId
  readonly seq: Cursor
}

async function ownEntries(ports: SessionPorts, { id, source, seq }: Fork): Promise<Append> {
  const copied = await loadState(ports, source, seq)
  // The source was deleted between two reads: its snapshot was still there, and its last entries were not.
  if (copied.phase === 'absent' || copied.seq < seq) return fail('SESSION_NOT_FOUND', { session: source })
  const { state, stored } = decideBatch([{ kind: 'fork', session: source }], { ...copied, id }, ports.clock.now())
  if (state.phase === 'absent') return fail('SESSION_NOT_FOUND', { session: source })
  return {
    row: rowOf(state),
    entries: stored,
    expected: seq,
    snapshot: { seq: state.seq, state: encodeState(state) },
  }
}
