/** Where a message belongs: to a session or to the connection, and which entry of the journal it shows. */
import { type Fields, type RequestId, fieldsOf } from '../../../rpc/json-rpc.ts'

/** What tells where a message from the server goes. */
export interface Outgoing {
  readonly text: string
  /** Undefined for a notification. */
  readonly id: RequestId | undefined
  /** Undefined for a response. */
  readonly method: string | undefined
  /** The session that the parameters name. */
  readonly sessionId: string | undefined
  /** The request that the parameters name. */
  readonly requestId: RequestId | undefined
  /** The entry of the journal that it shows; several messages may name the same one. */
  readonly seq: number | undefined
  /** Of a response: the session that the result names, as that of `session/new` does. */
  readonly made: string | undefined
  readonly isError: boolean
}

/** The same array is sent to every client of a session. */
const known = new WeakMap<readonly string[], readonly Outgoing[]>()

export function outgoing(messages: readonly string[]): readonly Outgoing[] {
  const found = known.get(messages) ?? messages.map(outgoingOf)
  known.set(messages, found)
  return found
}

function outgoingOf(text: string): Outgoing {
  const message = fieldsOf(JSON.parse(text))
  const { id, method, params, result } = message
  const { sessionId, requestId } = fieldsOf(params)
  return {
    text,
    id: requestIdIn(id),
    method: stringIn(method),
    sessionId: stringIn(sessionId),
    requestId: requestIdIn(requestId),
    seq: seqIn(method, fieldsOf(params)),
    made: stringIn(fieldsOf(result)['sessionId']),
    isError: message['error'] !== undefined,
  }
}

/** Of what a load sends again. */
function seqIn(method: unknown, params: Fields): number | undefined {
  if (method !== 'session/update' && method !== '_parley/resolved') return undefined
  const seq = method === '_parley/resolved' ? params['seq'] : fieldsOf(params['_meta'])['parley/seq']
  return typeof seq === 'number' ? seq : undefined
}

function stringIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function requestIdIn(value: unknown): RequestId | undefined {
  return typeof value === 'string' || typeof value === 'number' || value === null ? value : undefined
}
