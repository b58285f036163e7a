/** What the relay adds to the client's `initialize`: who is behind it, and that it wants to hear when the server stops. */
import { type Fields, fieldsOf, isFields } from './messages.ts'

export interface Introduction {
  readonly version: string
  /** The full name of the agent of new sessions. */
  readonly agent: string
  /** A person named it. */
  readonly agentChosen: boolean
  /** What a server may demand. */
  readonly token?: string | undefined
}

/** What a client says for itself stands. What is not as ACP has it is left for the server to refuse. */
export function introduced(params: Fields, { agent, agentChosen, token }: Introduction): Fields {
  const { _meta: meta = {}, clientCapabilities = {} } = params
  return {
    ...params,
    ...(isOptional(clientCapabilities) && { clientCapabilities: listening(fieldsOf(clientCapabilities)) }),
    ...(isOptional(meta) && {
      _meta: {
        'parley/agent': agent,
        ...(agentChosen && { 'parley/agentChosen': true }),
        ...(token !== undefined && { 'parley/token': token }),
        ...fieldsOf(meta),
      },
    }),
  }
}

/** The client has logged out: a new server gets no token until it authenticates again. */
export function withoutToken(params: Fields): Fields {
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
