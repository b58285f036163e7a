/** What the relay adds to the client's `initialize`: who is behind it, and that it wants to hear when the server stops. */
import { type Fields, fieldsOf, isFields } from './messages.ts'

export interface Handshake {
  readonly version: string
  /** The full name of the agent of new sessions. */
  readonly agent: string
  /** A person named it. */
  readonly agentChosen: boolean
  /** What a server may demand. */
  readonly token?: string | undefined
  /** What of the editor's environment reaches providers of models. It lives only here, in memory, for the next server too. */
  readonly lent?: Readonly<Record<string, string>>
}

/** What a client has said of itself to its servers: a new one is told the same before anything else. */
export class HandshakeResult {
  /** The `initialize` that was answered last, as it was sent. */
  #greeting: Fields | undefined
  /** The `authenticate` that holds. Its secret lives only here, in memory. */
  #admission: Fields | undefined

  get isMade(): boolean {
    return this.#greeting !== undefined
  }

  made(greeting: Fields): void {
    this.#greeting = greeting
  }

  admitted(admission: Fields): void {
    this.#admission = admission
  }

  loggedOut(): void {
    this.#admission = undefined
    if (this.#greeting !== undefined) this.#greeting = withoutToken(this.#greeting)
  }

  requests(): readonly (readonly [method: string, params: Fields])[] {
    return [
      ...(this.#greeting === undefined ? [] : [['initialize', this.#greeting] as const]),
      ...(this.#admission === undefined ? [] : [['authenticate', this.#admission] as const]),
    ]
  }
}

/** What a client says for itself stands. What is not as ACP has it is left for the server to refuse. */
export function withHandshake(params: Fields, { agent, agentChosen, token, lent }: Handshake): Fields {
  const { _meta: meta = {}, clientCapabilities = {} } = params
  return {
    ...params,
    ...(isOptional(clientCapabilities) && { clientCapabilities: listening(fieldsOf(clientCapabilities)) }),
    ...(isOptional(meta) && {
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

function listening(capabilities: Fields): Fields {
  const { _meta: meta } = capabilities
  const wanted = fieldsOf(meta)['parley/notifications']
  const notifications = [...new Set([...(Array.isArray(wanted) ? (wanted as readonly unknown[]) : []), 'server'])]
  return { ...capabilities, _meta: { ...fieldsOf(meta), 'parley/notifications': notifications } }
}

function isOptional(value: unknown): boolean {
  return value === null || isFields(value)
}
