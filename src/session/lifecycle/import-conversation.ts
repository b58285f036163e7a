/** Makes a session of a conversation that an agent had without Parley. */
import type { AgentSessionRecord, EarlierTurn } from '../../ports/agent.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ImportingJournal, SessionId, StoredEntry } from '../../ports/journal.ts'
import type { Command } from '../domain/commands.ts'
import { decide } from '../domain/decide.ts'
import type { Entry } from '../domain/entries.ts'
import { evolve } from '../domain/evolve.ts'
import { type State, absent, isBusy } from '../domain/state.ts'
import { endOfImport, storedForm } from './import-session.ts'

const APPEND_LIMIT = { entries: 1_000, chars: 512 * 1024 } as const

export interface EarlierConversation {
  /** The id of the new session. */
  readonly id: SessionId
  readonly record: AgentSessionRecord
  readonly turns: readonly EarlierTurn[]
  /** As the agent calls it; absent, the first prompt names it. */
  readonly title?: string
  /** Where it comes from, and what is missing. */
  readonly notice: string
}

/** A conversation that is not bound to one of an agent's own: from here on, any agent can continue it. */
export interface ToldConversation extends Pick<EarlierConversation, 'id' | 'title' | 'notice'> {
  /** The full name of the agent that answers from now on. */
  readonly agent: string
  /** Absolute. */
  readonly cwd: string
  /** With the time of each, if it is known: milliseconds since 1970. */
  readonly turns: readonly (EarlierTurn & { readonly at?: number })[]
}

interface Ports {
  readonly journal: ImportingJournal
  readonly clock: Clock
}

/** Stores all of it or nothing. Its times are those of the import. Throws JOURNAL_CONFLICT for an id that is taken. */
export async function importConversation({ journal, clock }: Ports, earlier: EarlierConversation): Promise<void> {
  const at = clock.now()
  const telling = new Telling(earlier.id, at)
  const { record } = earlier
  const { agent, cwd, roots } = record
  const entries = telling.all({ ...earlier, agent, cwd, additionalDirectories: roots.slice(1), record })
  await journal.importSession(inPieces(storedForms(entries)), () => endOfImport(telling.state, at))
}

/** The entries of a conversation whose turns have times of their own; nothing is later than `now`. */
export function toldEntries(told: ToldConversation, now: number): Iterable<Entry> {
  const first = told.turns.find(({ at }) => at !== undefined)?.at ?? now
  return new Telling(told.id, Math.min(first, now), now).all({ ...told, additionalDirectories: [] })
}

interface Whole extends ToldConversation {
  readonly additionalDirectories: readonly string[]
  readonly record?: AgentSessionRecord
}

/** The commands that would have made it, decided as they are for a session that is live. */
class Telling {
  state: State
  readonly #latest: number
  #at: number

  constructor(id: SessionId, at: number, latest = at) {
    this.state = absent(id)
    this.#at = at
    this.#latest = latest
  }

  *all({ agent, cwd, additionalDirectories, record, turns, title, notice }: Whole): Generator<Entry> {
    yield* this.#entries({ kind: 'create', cwd, additionalDirectories, agent })
    if (record !== undefined) yield* this.#entries({ kind: 'remember_agent_session', record })
    yield* this.#entries({ kind: 'notice', text: notice })
    if (title !== undefined) yield* this.#entries({ kind: 'agent_update', agent, update: { kind: 'title', title } })
    for (const [index, turn] of turns.entries()) {
      this.#at = Math.min(Math.max(this.#at, turn.at ?? 0), this.#latest)
      yield* this.#turn(turn, `import-${index + 1}`, agent)
    }
  }

  *#turn({ prompt, said }: EarlierTurn, promptId: string, agent: string): Generator<Entry> {
    const begins: Command =
      prompt.length === 0 ? { kind: 'begin_agent_turn', agent } : { kind: 'prompt', promptId, content: prompt }
    yield* this.#entries(begins)
    if (this.state.phase === 'absent' || !isBusy(this.state)) return
    const { turnId } = this.state.turn
    for (const event of said) yield* this.#entries({ kind: 'agent', turnId, event })
    yield* this.#entries({ kind: 'end', turnId, stopReason: 'end_turn' })
  }

  *#entries(command: Command): Generator<Entry> {
    for (const body of decide(command, this.state)) {
      const entry: Entry = Object.assign({ seq: this.state.seq + 1, at: this.#at }, body)
      this.state = evolve(this.state, entry)
      yield entry
    }
  }
}

function* storedForms(entries: Iterable<Entry>): Generator<StoredEntry> {
  for (const entry of entries) yield storedForm(entry)
}

async function* inPieces(entries: Iterable<StoredEntry>): AsyncGenerator<readonly StoredEntry[]> {
  let piece: StoredEntry[] = []
  let chars = 0
  for (const entry of entries) {
    piece.push(entry)
    chars += entry.body.length
    if (piece.length < APPEND_LIMIT.entries && chars < APPEND_LIMIT.chars) continue
    yield piece
    piece = []
    chars = 0
  }
  if (piece.length > 0) yield piece
}
