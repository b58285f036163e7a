/** What the model agent keeps of a session in its journal: steps that fold to the context of its model. */
import type { AssistantMessage, ModelMessage, ModelToolResult } from '../../../../ports/model.ts'

export type ContextEvent = BaseMemo | AskedMemo | AnsweredMemo | ResultMemo | RefusedMemo

/** Where the context begins: at the first prompt of the session, and again after each compaction. */
export interface BaseMemo {
  readonly agent: 'model'
  readonly kind: 'base'
  readonly system: string
  readonly roots: readonly string[]
  readonly messages: readonly ModelMessage[]
  /** Files of instructions that stand in `system` or were told in the conversation. */
  readonly told: readonly string[]
  readonly spent: Spent
  /** The model had the last word. */
  readonly settled: boolean
}

/** What is said to the model next; before it, what people saw of an answer that was cut. */
export interface AskedMemo {
  readonly agent: 'model'
  readonly kind: 'asked'
  readonly messages: readonly ModelMessage[]
  readonly roots?: readonly string[]
}

/** A whole step of the model. */
export interface AnsweredMemo {
  readonly agent: 'model'
  readonly kind: 'answered'
  /** Absent if it said nothing. */
  readonly message?: AssistantMessage
  /** Tokens of this step, prompt and answer. */
  readonly used: number
  readonly spent: Spent
}

/** The result of one call of the step before, as the model is given it. */
export interface ResultMemo {
  readonly agent: 'model'
  readonly kind: 'result'
  readonly result: ModelToolResult
  readonly told?: readonly string[]
}

/** The provider refused: what was asked last, and all that followed, is not said to it again. */
export interface RefusedMemo {
  readonly agent: 'model'
  readonly kind: 'refused'
}

/** What the session has cost so far, for each currency. */
export type Spent = Readonly<Record<string, number>>

/** Other agents of the session may have kept something too. */
export function isContextEvent(memo: unknown): memo is ContextEvent {
  return typeof memo === 'object' && memo !== null && (memo as { readonly agent?: unknown }).agent === 'model'
}
