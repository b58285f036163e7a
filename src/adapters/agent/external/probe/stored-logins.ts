/** The logins that agents offered when they were last started, read for `initialize` before anything heavy is loaded. */
import { join } from 'node:path'
import type { AgentLogin } from '../../../../ports/agent.ts'
import { fieldsOf } from '../../../../rpc/json-rpc.ts'
import { readTextSync } from '../../../../state-files/bounded-read.ts'

const MAX_BYTES = 4 * 1024 * 1024

/** As `Agents.logins` has it, for an agent by its full name or as users type it; `directory` is `<state>/agents`. */
export function storedLogins(directory: string, named: string): readonly AgentLogin[] {
  const agent = named.replace(/^acp:/u, '')
  // Whatever a client names is no path.
  if (!/^[A-Za-z0-9][\w.-]*$/u.test(agent)) return []
  try {
    const text = readTextSync(join(directory, 'offers', `${agent}.json`), MAX_BYTES) ?? '{}'
    const { logins } = fieldsOf(fieldsOf(JSON.parse(text))['offers'])
    return Array.isArray(logins) ? logins.flatMap((one) => loginIn(agent, fieldsOf(one))) : []
  } catch {
    // It is damaged, or of another version of Parley: the agent is met again when it runs next.
    return []
  }
}

function loginIn(agent: string, { id, name, description }: Readonly<Record<string, unknown>>): readonly AgentLogin[] {
  if (typeof id !== 'string' || typeof name !== 'string') return []
  const login = { id: `${agent}/${id}`, name: `${agent}: ${name}` }
  return [typeof description === 'string' ? Object.assign(login, { description }) : login]
}
