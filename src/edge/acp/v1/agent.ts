/** Which agent a connection wants for its sessions, as it says in `initialize`. */
import { fail } from '../../../errors/parley-error.ts'

export interface AgentWish {
  /** The full name of the agent of sessions that this connection creates. */
  readonly name: string
  /** A person named it: sessions that this connection opens have it too, from their next turn on. */
  readonly chosen: boolean
}

/** What the client names, else `preset`. Whether there is such an agent is told to whoever asks for a session. */
export function wishedAgent(params: unknown, preset: AgentWish): AgentWish {
  const { _meta } = (params ?? {}) as { readonly _meta?: Readonly<Record<string, unknown>> | null }
  const name = _meta?.['parley/agent'] ?? undefined
  const chosen = _meta?.['parley/agentChosen'] ?? false
  if (name === undefined) return preset
  if (typeof name !== 'string') return invalid('_meta["parley/agent"] must be a text')
  if (typeof chosen !== 'boolean') return invalid('_meta["parley/agentChosen"] must be true or false')
  return { name, chosen }
}

function invalid(reason: string): never {
  return fail('PARAMS_INVALID', { method: 'initialize', reason })
}
