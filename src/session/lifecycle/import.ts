/** Makes a session of entries that were exported elsewhere. They are facts of the past: nothing in them runs, waits or is allowed here. */
import { fail, isParleyError } from '../../errors/parley-error.ts'
import type { Append, Cursor, ImportingJournal, SessionId, StoredEntry } from '../../ports/journal.ts'
import type { SessionPorts } from '../session-ports.ts'
import { abortCopiedTurn } from '../domain/finish-turn.ts'
import { type Entry, type Failure, encodeBody } from '../domain/entries.ts'
import { evolve } from '../domain/evolve.ts'
import { type Existing, type State, absent, encodeState, isBusy, rowOf } from '../domain/state.ts'

export interface Importing {
  /** The id of the new session. */
  readonly id: SessionId
  /** How many entries there are. */
  readonly count: Cursor
  /** 1, 2, 3 … without a hole, the first of them `session_created` and no other; shapes are checked by whoever read them. */
  readonly pieces: AsyncIterable<readonly Entry[]>
}

interface ImportingWorld extends Pick<SessionPorts, 'clock'> {
  readonly journal: ImportingJournal
}

/** Whole or not at all. A turn that is open at the end is over here. Throws SESSION_EXISTS, and what `pieces` throws. */
export async function importSession({ journal, clock }: ImportingWorld, importing: Importing): Promise<void> {
  const { id, count, pieces } = importing
  let state: State = absent(id)

  async function* stored(): AsyncGenerator<readonly StoredEntry[]> {
    for await (const entries of pieces) {
      const brought = entries.map((entry) => marked(entry, count))
      for (const entry of brought) state = evolve(state, entry)
      yield brought.map(storedForm)
    }
  }

  try {
    await journal.importSession(stored(), () => lastOf(state, clock.now()))
  } catch (error) {
    if (isParleyError(error, 'JOURNAL_CONFLICT')) fail('SESSION_EXISTS', { session: id }, error)
    throw error
  }
}

function marked(entry: Entry, count: Cursor): Entry {
  return entry.kind === 'session_created' ? { ...entry, imported: count } : entry
}

/** As it was before it was brought in; the mark is ours alone. */
export function unmarked(entry: Entry): Entry {
  if (entry.kind !== 'session_created') return entry
  const { imported: _ours, ...exported } = entry
  return exported
}

function storedForm({ seq, at, ...body }: Entry): StoredEntry {
  return { seq, at, body: encodeBody(body) }
}

/** The end of what is open, and what the session is then. */
function lastOf(brought: State, now: number): Append {
  if (brought.phase === 'absent') return fail('INTERNAL_ERROR', {}, new Error('an import without entries'))
  const entries: StoredEntry[] = []
  let state: Existing = brought
  for (const body of isBusy(brought) ? abortCopiedTurn(brought, ELSEWHERE) : []) {
    const entry: Entry = Object.assign({ seq: state.seq + 1, at: now }, body)
    entries.push(storedForm(entry))
    state = evolve(state, entry)
  }
  const snapshot = { seq: state.seq, state: encodeState(state) }
  return { row: rowOf(state), entries, expected: brought.seq, snapshot }
}

const ELSEWHERE: Failure = {
  code: 'TURN_INTERRUPTED',
  message:
    'Interrupted: this session was exported while it was working on this. There it may have gone on; prompt again to go on here.',
}
