/** Where in a turn the power went, as the client saw it. */
import { type Message, updateIn } from '../e2e/message.ts'

export const phases = [
  'before any update',
  'while text streams',
  'while a tool runs',
  'while a question waits',
  'after the end of the turn',
] as const

export type Phase = (typeof phases)[number]

/** The phases between a turn's first update and its end. */
export const inMidTurn: ReadonlySet<Phase> = new Set([
  'while text streams',
  'while a tool runs',
  'while a question waits',
])

export interface Seen {
  /** What came since this life's turn could first be heard. */
  readonly messages: readonly Message[]
  readonly answered: ReadonlySet<Message['id']>
  /** The requests of the prompts that were sent. */
  readonly prompts: readonly Message['id'][]
}

export function phaseOf({ messages, answered, prompts }: Seen): Phase {
  const updates = messages.flatMap((message) => updateIn(message) ?? [])
  if (updates.length === 0) return 'before any update'
  const open = prompts.filter((id) => !messages.some((message) => message.id === id && message.method === undefined))
  if (open.length === 0) return 'after the end of the turn'
  const asks = messages.some(({ method, id }) => method === 'session/request_permission' && !answered.has(id))
  if (asks) return 'while a question waits'
  const last = updates.findLast(({ update }) => update['status'] !== undefined)
  return last?.update['status'] === 'in_progress' ? 'while a tool runs' : 'while text streams'
}
