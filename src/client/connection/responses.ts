/** What the answers of an agent say, as far as they are well formed. */
import { fail } from '../../errors/parley-error.ts'
import { fieldsOf } from '../initialize/capabilities.ts'

/** How a prompt ended, as the agent said it. */
export interface PromptResult {
  readonly stopReason: string
}

/** The stop reason of an agent that names none. */
export const NO_REASON = 'unknown'

/** What stands there of a word, and what it could be. */
export interface Suggested {
  readonly value: string
  readonly values: readonly string[]
}

export interface Stopping {
  readonly stopping: boolean
  /** Turns that run. */
  readonly working: number
}

/** The session that an answer names. Throws AGENT_ANSWER_INVALID. */
export function sessionIdOf(method: string, answer: unknown): string {
  const { sessionId } = fieldsOf(answer)
  if (typeof sessionId === 'string') return sessionId
  return fail('AGENT_ANSWER_INVALID', { method, reason: 'it names no session' })
}

export function promptResultIn(answer: unknown): PromptResult {
  const result = fieldsOf(answer)
  return { ...result, stopReason: typeof result['stopReason'] === 'string' ? result['stopReason'] : NO_REASON }
}

export function suggestedIn(answer: unknown): Suggested {
  const { value, values } = fieldsOf(answer)
  const words = Array.isArray(values) ? values.filter((one): one is string => typeof one === 'string') : []
  return { value: typeof value === 'string' ? value : '', values: words }
}

export function stoppingIn(answer: unknown): Stopping {
  const { stopping, working } = fieldsOf(answer)
  return { stopping: stopping === true, working: typeof working === 'number' ? working : 0 }
}
