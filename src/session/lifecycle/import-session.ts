/** Imports an exported session. Its entries are kept as they are, but no turn of them runs here and no permission of them holds here. */
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
  /** Numbered 1, 2, 3 … without gaps; the first is the only `session_created`. The reader of the file has checked their shapes. */
  readonly pieces: AsyncIterable<readonly Entry[]>
}

interface ImportPorts extends Pick<SessionPorts, 'clock'> {
  readonly journal: ImportingJournal
}

/** Stores all entries or none, and ends a turn that they leave open. Throws SESSION_EXISTS and the errors of `pieces`. */
export async function importSession({ journal, clock }: ImportPorts, importing: Importing): Promise<void> {
  const { id, count, pieces } = importing
  let state: State = absent(id)

  async function* stored(): AsyncGenerator<readonly StoredEntry[]> {
    for await (const entries of pieces) {
      const imported = entries.map((entry) => marked(entry, count))
      for (const entry of imported) state = evolve(state, entry)
      yield imported.map(storedForm)
    }
  }

  try {
    await journal.importSession(stored(), () => endOfImport(state, clock.now()))
  } catch (error) {
    if (isParleyError(error, 'JOURNAL_CONFLICT')) fail('SESSION_EXISTS', { session: id }, error)
    throw error
  }
}

function marked(entry: Entry, count: Cursor): Entry {
  return entry.kind === 'session_created' ? { ...entry, imported: count } : entry
}

/** The entry as it was before its import, for an export: the mark means nothing elsewhere. */
export function unmarked(entry: Entry): Entry {
  if (entry.kind !== 'session_created') return entry
  const { imported: _mark, ...exported } = entry
  return exported
}

/** The entry as the journal keeps it. */
export function storedForm({ seq, at, ...body }: Entry): StoredEntry {
  return { seq, at, body: encodeBody(body) }
}

/** The entries that end an open turn, with the row and the snapshot of the session after them. */
export function endOfImport(imported: State, now: number): Append {
  if (imported.phase === 'absent') return fail('INTERNAL_ERROR', {}, new Error('an import without entries'))
  const entries: StoredEntry[] = []
  let state: Existing = imported
  for (const body of isBusy(imported) ? abortCopiedTurn(imported, EXPORTED_WHILE_WORKING) : []) {
    const entry: Entry = Object.assign({ seq: state.seq + 1, at: now }, body)
    entries.push(storedForm(entry))
    state = evolve(state, entry)
  }
  const snapshot = { seq: state.seq, state: encodeState(state) }
  return { row: rowOf(state), entries, expected: imported.seq, snapshot }
}

const EXPORTED_WHILE_WORKING: Failure = {
  code: 'TURN_INTERRUPTED',
  message:
    'Interrupted: this session was exported while it was working on this. The original may have continued; prompt again to continue here.',
}
