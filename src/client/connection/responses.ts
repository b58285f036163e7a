/** Results of the agent, read as far as they are well formed. */
import { fieldsOf } from '../../rpc/json-rpc.ts'
import { fail } from '../client-error.ts'

/** How a prompt ended, as the agent put it. */
export interface PromptResult {
  readonly stopReason: string
}

/** The stop reason of an agent that names none. */
export const NO_REASON = 'unknown'

/** Completions of the words behind a slash command: the text that they replace, and what it could be. */
export interface Suggested {
  readonly value: string
  readonly values: readonly string[]
}

export interface Stopping {
  readonly stopping: boolean
  /** The number of turns that run. */
  readonly working: number
}

/** The session that a result names. Throws AGENT_ANSWER_INVALID. */
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

/** A message, a tool call or a title that was found. */
export interface FoundPassage {
  readonly sessionId: string
  readonly title?: string
  readonly cwd: string
  /** `user`, `agent`, `thought`, `tool` or `title`. */
  readonly by: string
  /** Its first entry. */
  readonly seq: number
  readonly text: string
  /** UTF-16 ranges in `text`. */
  readonly highlights: readonly (readonly [from: number, to: number])[]
}

export interface SearchResult {
  readonly passages: readonly FoundPassage[]
  /** There are more than were asked for. */
  readonly more: boolean
  /** Entries that were not searched, because the index does not have them yet. */
  readonly behind: number
}

export function searchResultIn(result: unknown): SearchResult {
  const { passages, more, behind } = fieldsOf(result)
  return {
    passages: Array.isArray(passages) ? (passages as readonly FoundPassage[]) : [],
    more: more === true,
    behind: typeof behind === 'number' ? behind : 0,
  }
}
