/** The agent that a client asks for in `initialize`, and the environment variables that it sends for model providers. */
import { fail } from '../../../../errors/parley-error.ts'
import type { ClientVariables } from '../../../../ports/agent.ts'
import { fieldsOf } from '../../../../rpc/json-rpc.ts'
import type { DefaultAgent } from '../../version.ts'

export interface RequestedAgent extends DefaultAgent {
  /** The client named it; otherwise it is the server's own setting. */
  readonly isRequested?: boolean
  /** Absent where the client has none, or may not send any. */
  readonly variables?: ClientVariables
}

/** The agent that the client names, else `preset`. An agent that does not exist is refused later, when a session is opened. */
export function parseRequestedAgent(params: unknown, preset: DefaultAgent): RequestedAgent {
  const meta = fieldsOf(fieldsOf(params)['_meta'])
  const name = meta['parley/agent'] ?? undefined
  const chosen = meta['parley/agentChosen'] ?? false
  if (name === undefined) return preset
  if (typeof name !== 'string') return invalid('_meta["parley/agent"] must be a text')
  if (typeof chosen !== 'boolean') return invalid('_meta["parley/agentChosen"] must be true or false')
  return { name, chosen, isRequested: true }
}

/** More than any set of model providers needs. */
const MAX_VARIABLES = 200
const MAX_VARIABLE_CHARS = 16_384

/** The keys of model providers in the environment of the client. Throws PARAMS_INVALID, which quotes none of them. */
export function parseClientVariables(params: unknown): ClientVariables | undefined {
  const variables = fieldsOf(fieldsOf(params)['_meta'])['parley/variables'] ?? undefined
  if (variables === undefined) return undefined
  if (typeof variables !== 'object' || variables === null || Array.isArray(variables))
    return invalid('_meta["parley/variables"] must be an object')
  const all = Object.entries(variables)
  if (all.length > MAX_VARIABLES || !all.every(isVariable))
    return invalid('_meta["parley/variables"] must have names of variables with texts')
  return Object.fromEntries(all)
}

function isVariable(one: readonly [string, unknown]): one is [string, string] {
  const [name, value] = one
  return /^[A-Za-z_]\w*$/u.test(name) && typeof value === 'string' && value.length <= MAX_VARIABLE_CHARS
}

function invalid(reason: string): never {
  return fail('PARAMS_INVALID', { method: 'initialize', reason })
}
