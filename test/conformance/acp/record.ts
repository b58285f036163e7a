/** All that went over one connection, in order: what the checks look at. */
import type { Fields, Message, RpcError } from '../../e2e/message.ts'

export interface Entry {
  readonly from: 'client' | 'agent'
  readonly message: Message
  /** Undefined for bytes that are no message. */
  readonly raw: string
}

export interface Transcript {
  readonly entries: readonly Entry[]
  /** Lines of the agent that are no JSON, and bytes that are no UTF-8. */
  readonly impurities: readonly string[]
  /** Somebody else prompts in the same sessions too. */
  readonly shared: boolean
  /** What the client had offered before, if the introduction is not part of this. */
  readonly offered: Fields
}

/** The requests and notifications of the agent of this method. */
export function callsOf({ entries }: Transcript, method: string): readonly Message[] {
  return entries
    .filter(({ from, message }) => from === 'agent' && message.method === method)
    .map(({ message }) => message)
}

/** What the agent has answered, to requests and to anything else. */
export function answersIn({ entries }: Transcript): readonly Entry[] {
  return entries.filter(({ from, message }) => from === 'agent' && message.method === undefined)
}

export function fromAgent({ entries }: Transcript): readonly Message[] {
  return entries.filter(({ from }) => from === 'agent').map(({ message }) => message)
}

export interface Told extends Fields {
  readonly sessionUpdate: string
}

/** The updates of one kind, or of all kinds, in one session or in all. */
export function updatesOf(transcript: Transcript, kind?: string, sessionId?: string): readonly Told[] {
  return callsOf(transcript, 'session/update')
    .filter(({ params }) => sessionId === undefined || params?.['sessionId'] === sessionId)
    .map(({ params }) => params?.['update'] as Told)
    .filter((update) => kind === undefined || update?.sessionUpdate === kind)
}

/** The text of all chunks of one kind, joined. */
export function textOf(updates: readonly Told[], kind = 'agent_message_chunk'): string {
  return updates
    .filter((update) => update.sessionUpdate === kind)
    .map((update) => (update['content'] as { readonly text?: string } | undefined)?.text ?? '')
    .join('')
}

/** The method that each response answers, by its place among the entries. */
export function answeredMethods({ entries }: Transcript): ReadonlyMap<Entry, string> {
  const asked = new Map<string, string>()
  const answered = new Map<Entry, string>()
  for (const entry of entries) {
    const { id, method } = entry.message
    if (id === undefined) continue
    const key = JSON.stringify(id)
    if (entry.from === 'client' && method !== undefined) asked.set(key, method)
    const known = asked.get(key)
    if (entry.from === 'agent' && method === undefined && known !== undefined) answered.set(entry, known)
  }
  return answered
}

export type Answer = Message

export function errorOf(answer: Answer): RpcError | undefined {
  return answer.error
}

export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}

export function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? (value as readonly Fields[]) : []
}
