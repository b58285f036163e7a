/**
 * The client's `initialize` and `authenticate`: the fields that the relay adds to them, and the requests that it repeats
 * to a new server.
 */
import { fieldsOf, isFields, type Fields } from '../rpc/json-rpc.ts'

/** The additions of the relay to the client's `initialize`. */
export interface Handshake {
  /** The version of this program. */
  readonly version: string
  /** The full name of the agent of new sessions; absent: the server's own. */
  readonly agent?: string | undefined
  /** A user named it. */
  readonly agentChosen: boolean
  /** The token that the server may demand. */
  readonly token?: string | undefined
  /** Variables of the editor's environment with keys of model providers. They live only here, in memory, for the next server too. */
  readonly lent?: Readonly<Record<string, string>>
}

/** The answers to `initialize` of servers like the one that is about to be started: of this version and this configuration. */
export interface KnownOffers {
  find(): Promise<Fields | undefined>
  /** A server has answered so. */
  remember(result: Fields): Promise<void>
}

/** The handshake that succeeded last: a new server gets the same before anything else. */
export class HandshakeResult {
  /** Parameters of the last `initialize` that was answered, as it was sent. */
  #initialize: Fields | undefined
  /** Parameters of the `authenticate` that is in force. Its secret lives only here, in memory. */
  #authenticate: Fields | undefined

  get isInitialized(): boolean {
    return this.#initialize !== undefined
  }

  initialized(params: Fields): void {
    this.#initialize = params
  }

  authenticated(params: Fields): void {
    this.#authenticate = params
  }

  loggedOut(): void {
    this.#authenticate = undefined
    if (this.#initialize !== undefined) this.#initialize = withoutToken(this.#initialize)
  }

  requests(): readonly (readonly [method: string, params: Fields])[] {
    return [
      ...(this.#initialize === undefined ? [] : [['initialize', this.#initialize] as const]),
      ...(this.#authenticate === undefined ? [] : [['authenticate', this.#authenticate] as const]),
    ]
  }
}

/** The client's own values take precedence. Invalid parameters are left for the server to refuse. */
export function withHandshake(params: Fields, { agent, agentChosen, token, lent }: Handshake): Fields {
  const { _meta: meta = {}, clientCapabilities = {} } = params
  return {
    ...params,
    ...(isOptionalObject(clientCapabilities) && {
      clientCapabilities: withServerNotices(fieldsOf(clientCapabilities)),
    }),
    ...(isOptionalObject(meta) && {
      _meta: {
        'parley/agent': agent,
        ...(agentChosen && { 'parley/agentChosen': true }),
        ...(token !== undefined && { 'parley/token': token }),
        ...(lent && { 'parley/variables': lent }),
        ...fieldsOf(meta),
      },
    }),
  }
}

/** A new server gets no token until the client authenticates again. */
function withoutToken(params: Fields): Fields {
  const { 'parley/token': _former, ...meta } = fieldsOf(params['_meta'])
  return { ...params, _meta: meta }
}

/** The relay must know when the server stops. */
function withServerNotices(capabilities: Fields): Fields {
  const { _meta: meta } = capabilities
  const wanted = fieldsOf(meta)['parley/notifications']
  const notifications = [...new Set([...(Array.isArray(wanted) ? (wanted as readonly unknown[]) : []), 'server'])]
  return { ...capabilities, _meta: { ...fieldsOf(meta), 'parley/notifications': notifications } }
}

function isOptionalObject(value: unknown): boolean {
  return value === null || isFields(value)
}
