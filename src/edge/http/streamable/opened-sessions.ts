/** How a client opened its sessions, so that the server can read one again from the journal without asking the client. */
import { type RequestId, fieldsOf, requestMessage, type Fields } from '../../../rpc/json-rpc.ts'
import type { Outgoing } from './routing.ts'

const OPENING: ReadonlySet<string> = new Set(['session/new', 'session/load', 'session/resume', 'session/fork'])

export class OpenedSessions {
  /** Parameters by the request that has no answer yet, and by the session. */
  readonly #asked = new Map<RequestId, Fields>()
  readonly #opened = new Map<string, Fields>()

  asked(id: RequestId, method: string, params: unknown): void {
    if (OPENING.has(method)) this.#asked.set(id, fieldsOf(params))
  }

  answered({ id = null, isError, made }: Outgoing): void {
    const params = this.#asked.get(id)
    if (params === undefined) return
    this.#asked.delete(id)
    const sessionId = made ?? params['sessionId']
    if (!isError && typeof sessionId === 'string') this.#opened.set(sessionId, params)
  }

  /** The request for the entries after `seq`; undefined for a session that this connection has not opened. */
  reloadOf(sessionId: string, seq: number, id: RequestId): string | undefined {
    const params = this.#opened.get(sessionId)
    if (params === undefined) return undefined
    const { cwd, additionalDirectories, mcpServers = [] } = params
    const after = { _meta: { 'parley/after': seq } }
    return requestMessage(id, 'session/load', { sessionId, cwd, additionalDirectories, mcpServers, ...after })
  }
}

/** A request to open a session, for a client that named what it has where it began to read. */
export function continuedAfter(text: string, seq: number): string {
  const message = fieldsOf(JSON.parse(text))
  const params = fieldsOf(message['params'])
  const meta = fieldsOf(params['_meta'])
  if (!OPENING.has(String(message['method'])) || meta['parley/after'] !== undefined) return text
  return JSON.stringify({ ...message, params: { ...params, _meta: { ...meta, 'parley/after': seq } } })
}
