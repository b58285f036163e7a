/** One turn of the model agent: what it works with, and how it keeps each step before the next begins. */
import type { Turn } from '../../../../ports/agent.ts'
import type { Clock } from '../../../../ports/clock.ts'
import type { Cursor } from '../../../../ports/journal.ts'
import type { Model, Models } from '../../../../ports/model.ts'
import type { Context } from '../context/context.ts'
import type { Contexts } from '../context/contexts.ts'
import type { ContextEvent } from '../context/context-event.ts'

export interface ModelAgentDeps {
  readonly models: Models
  /** The model of a session in which nobody has chosen one. */
  readonly preset: string
  readonly clock: Clock
  readonly contexts: Contexts
  /** Steps of the model that a turn may have. */
  readonly maxSteps: number
  /** The model gives new sessions their titles. */
  readonly titles: boolean
  /** Where the user's own prompt files are. */
  readonly promptDirectory: string | undefined
}

export interface TurnWork {
  readonly turn: Turn
  readonly means: ModelAgentDeps
  readonly context: Context
  /** As people have chosen by now. */
  model(): Promise<Model>
}

/** Stored when it resolves, and part of the context from then on. */
export async function append({ turn, context }: TurnWork, memo: ContextEvent): Promise<void> {
  context.take(await store(turn, memo), memo)
}

/** Part of the context at once, and stored when it resolves: until then nothing may follow from it but a request. */
export async function appendOptimistic({ turn, context, means }: TurnWork, memo: ContextEvent): Promise<void> {
  context.add(memo)
  try {
    context.place = await store(turn, memo)
  } catch (error) {
    means.contexts.forget(turn.sessionId)
    throw error
  }
}

function store(turn: Turn, memo: ContextEvent): Promise<Cursor> {
  return turn.checkpoint(memo, memo.kind === 'base' ? 'reset' : undefined)
}

/** What we have to tell ourselves, among the thoughts of the model; the mark tells them apart. */
export function think({ turn }: TurnWork, text: string): Promise<void> {
  return turn.think({ type: 'text', text: `${text}\n`, _meta: { 'parley/notice': true } })
}
