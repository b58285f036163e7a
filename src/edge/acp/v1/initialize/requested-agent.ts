/** Which agent a connection wants for its sessions, as it says in `initialize`. */
import { fail } from '../../../../errors/parley-error.ts'
import type { ClientVariables } from '../../../../ports/agent.ts'
import type { DefaultAgent } from '../../version.ts'

export interface RequestedAgent extends DefaultAgent {
  /** What the client has lent for its models. */
  readonly lent?: ClientVariables
}

/** What the client names, else `preset`. Whether there is such an agent is told to whoever asks for a session. */
export function parseRequestedAgent(params: unknown, preset: DefaultAgent): RequestedAgent {
  const { _meta } = (params ?? {}) as { readonly _meta?: Readonly<Record<string, unknown>> | null }
  const name = _meta?.['parley/agent'] ?? undefined
  const chosen = _meta?.['parley/agentChosen'] ?? false
  if (name === undefined) return preset
  if (typeof name !== 'string') return invalid('_meta["parley/agent"] must be a text')
  if (typeof chosen !== 'boolean') return invalid('_meta["parley/agentChosen"] must be true or false')
  return { name, chosen }
}

/** Nobody has so many providers, or longer keys. */
const MOST_LENT = 200
const LONGEST_LENT = 16_384

/**
 * What the environment of a client has for providers of models, as it says in `initialize`: for a transport that only the
 * user of this server can reach. Throws PARAMS_INVALID, which quotes nothing of it.
 */
export function lentVariables(params: unknown): ClientVariables | undefined {
  const { _meta } = (params ?? {}) as { readonly _meta?: Readonly<Record<string, unknown>> | null }
  const lent = _meta?.['parley/variables'] ?? undefined
  if (lent === undefined) return undefined
  if (typeof lent !== 'object' || Array.isArray(lent)) return invalid('_meta["parley/variables"] must be an object')
  const all = Object.entries(lent ?? {})
  if (all.length > MOST_LENT || !all.every(isVariable))
    return invalid('_meta["parley/variables"] must have names of variables with texts')
  return Object.fromEntries(all)
}

function isVariable(one: readonly [string, unknown]): one is [string, string] {
  const [name, value] = one
  return /^[A-Za-z_]\w*$/u.test(name) && typeof value === 'string' && value.length <= LONGEST_LENT
}

function invalid(reason: string): never {
  return fail('PARAMS_INVALID', { method: 'initialize', reason })
}
