/** Makes a session of a conversation that an agent had without Parley. */
import type { AgentSessionRecord, EarlierTurn } from '../../ports/agent.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ImportingJournal, SessionId, StoredEntry } from '../../ports/journal.ts'
import type { Command } from '../domain/commands.ts'
import { decide } from '../domain/decide.ts'
import type { Entry } from '../domain/entries.ts'
import { evolve } from '../domain/evolve.ts'
import { type State, absent, isBusy } from '../domain/state.ts'
import { endOf, storedForm } from './import-session.ts'

const PIECE = { entries: 1_000, chars: 512 * 1024 } as const

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

interface Ports {
  readonly journal: ImportingJournal
  readonly clock: Clock
}

/** Stores all of it or nothing. Its times are those of the import. Throws JOURNAL_CONFLICT for an id that is taken. */
export async function importConversation({ journal, clock }: Ports, earlier: EarlierConversation): Promise<void> {
  const at = clock.now()
  const telling = new Telling(earlier.id, at)
  await journal.importSession(inPieces(telling.all(earlier)), () => endOf(telling.state, at))
}

/** The commands that would have made it, decided as they are for a session that is live. */
class Telling {
  state: State
  readonly #at: number

  constructor(id: SessionId, at: number) {
    this.state = absent(id)
    this.#at = at
  }

  *all({ record, turns, title, notice }: EarlierConversation): Generator<StoredEntry> {
    const { agent, cwd, roots } = record
    yield* this.#entries({ kind: 'create', cwd, additionalDirectories: roots.slice(1), agent })
    yield* this.#entries({ kind: 'remember_agent_session', record })
    yield* this.#entries({ kind: 'notice', text: notice })
    if (title !== undefined) yield* this.#entries({ kind: 'agent_update', agent, update: { kind: 'title', title } })
    for (const [index, turn] of turns.entries()) yield* this.#turn(turn, `import-${index + 1}`, agent)
  }

  *#turn({ prompt, said }: EarlierTurn, promptId: string, agent: string): Generator<StoredEntry> {
    const begins: Command =
      prompt.length === 0 ? { kind: 'begin_agent_turn', agent } : { kind: 'prompt', promptId, content: prompt }
    yield* this.#entries(begins)
    if (this.state.phase === 'absent' || !isBusy(this.state)) return
    const { turnId } = this.state.turn
    for (const event of said) yield* this.#entries({ kind: 'agent', turnId, event })
    yield* this.#entries({ kind: 'end', turnId, stopReason: 'end_turn' })
  }

  *#entries(command: Command): Generator<StoredEntry> {
    for (const body of decide(command, this.state)) {
      const entry: Entry = Object.assign({ seq: this.state.seq + 1, at: this.#at }, body)
      this.state = evolve(this.state, entry)
      yield storedForm(entry)
    }
  }
}

async function* inPieces(entries: Iterable<StoredEntry>): AsyncGenerator<readonly StoredEntry[]> {
  let piece: StoredEntry[] = []
  let chars = 0
  for (const entry of entries) {
    piece.push(entry)
    chars += entry.body.length
    if (piece.length < PIECE.entries && chars < PIECE.chars) continue
    yield piece
    piece = []
    chars = 0
  }
  if (piece.length > 0) yield piece
}
