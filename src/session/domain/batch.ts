/** Decides the pending commands on a copy of the state, as one batch for the journal. Pure. */
import type { PermissionOutcome } from '../../ports/values/content.ts'
import type { StoredEntry } from '../../ports/journal.ts'
import type { Command } from './commands.ts'
import { decide } from './decide.ts'
import { type Entry, encodeBody } from './entries.ts'
import { evolve } from './evolve.ts'
import { type OpenQuestion, type OpenTurn, type State, isBusy, openQuestions } from './state.ts'

export interface Batch {
  readonly state: State
  readonly entries: readonly Entry[]
  readonly stored: readonly StoredEntry[]
  /** One per command, in order. */
  readonly outcomes: readonly Outcome[]
  /** Carried out once the batch is stored. */
  readonly effects: readonly Effect[]
}

/** The entries of a command, or why it was refused; a refusal harms no other command of the batch. */
export type Outcome = { readonly entries: readonly Entry[] } | { readonly refused: unknown }

export type Effect =
  | { readonly kind: 'run'; readonly turn: OpenTurn; readonly answered?: AnsweredQuestion }
  | { readonly kind: 'cancel' }
  | { readonly kind: 'answer'; readonly answered: AnsweredQuestion }

export interface AnsweredQuestion {
  readonly question: OpenQuestion
  readonly outcome: PermissionOutcome
}

export function decideBatch(commands: readonly Command[], before: State, at: number): Batch {
  const builder = new BatchBuilder(before, at)
  const outcomes = commands.map((command) => builder.add(command))
  return { ...builder.result(), outcomes }
}

const OVER: ReadonlySet<Entry['kind']> = new Set(['turn_ended', 'turn_suspended'])

class BatchBuilder {
  readonly #at: number
  #state: State
  #answered: AnsweredQuestion | undefined
  readonly #entries: Entry[] = []
  readonly #stored: StoredEntry[] = []
  #effects: Effect[] = []

  constructor(state: State, at: number) {
    this.#state = state
    this.#at = at
  }

  add(command: Command): Outcome {
    const from = this.#entries.length
    try {
      for (const { body, stored } of decideWhole(command, this.#state)) {
        const place = { seq: this.#state.seq + 1, at: this.#at }
        this.#stored.push({ ...place, body: stored })
        this.#apply({ ...body, ...place })
      }
    } catch (refused) {
      return { refused }
    }
    return { entries: this.#entries.slice(from) }
  }

  result(): Omit<Batch, 'outcomes'> {
    return { state: this.#state, entries: this.#entries, stored: this.#stored, effects: this.#effects }
  }

  #apply(entry: Entry): void {
    const before = this.#state
    const after = evolve(before, entry)
    this.#state = after
    this.#entries.push(entry)
    // A turn that began and was halted in the same batch never gets an agent.
    if (OVER.has(entry.kind)) {
      this.#effects = this.#effects.filter(({ kind }) => kind !== 'run')
      this.#answered = undefined
    }
    if (!isBusy(after)) return
    switch (entry.kind) {
      case 'turn_started':
        this.#effects.push({ kind: 'run', turn: after.turn })
        return
      case 'turn_resumed':
        this.#effects.push({ kind: 'run', turn: after.turn, ...(this.#answered && { answered: this.#answered }) })
        this.#answered = undefined
        return
      case 'turn_cancel_requested':
        this.#effects.push({ kind: 'cancel' })
        return
      case 'permission_resolved':
        this.#answer(before, entry)
        return
      default:
    }
  }

  #answer(before: State, entry: Entry & { readonly kind: 'permission_resolved' }): void {
    const question = openQuestions(before).find(({ requestId }) => requestId === entry.requestId)
    if (question === undefined) return
    const answered = { question, outcome: entry.outcome }
    if (before.phase === 'waiting') this.#effects.push({ kind: 'answer', answered })
    else this.#answered = answered
  }
}

/** Whether the running turn cannot go on when this command could not be stored: its own words are lost, or its cancel or an answer. */
export function concernsTurn(command: Command, state: State): boolean {
  switch (command.kind) {
    case 'agent':
    case 'ask':
    case 'end':
    case 'answer':
    case 'cancel':
    case 'close':
    case 'halt':
      return true
    case 'withdraw':
      return isBusy(state) && state.turn.promptId === command.promptId
    default:
      return false
  }
}

/** A command whose facts cannot all be stored leaves none. */
function decideWhole(command: Command, state: State) {
  return decide(command, state).map((body) => ({ body, stored: encodeBody(body) }))
}
