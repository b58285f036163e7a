/** The logins of the agent behind the server, as a client with a terminal offers them to its user. */
import { fieldsOf } from '../../../../rpc/json-rpc.ts'
import type { AgentLogin } from '../../../../ports/agent.ts'

/** Empty for a client that cannot run a command in a terminal. It adds the arguments to the command that started Parley. */
export function terminalLogins(params: unknown, logins: readonly AgentLogin[]): readonly object[] {
  const capabilities = fieldsOf(fieldsOf(params)['clientCapabilities'])
  const { terminal } = fieldsOf(capabilities['auth'])
  if (terminal !== true && fieldsOf(capabilities['_meta'])['terminal-auth'] !== true) return []
  return logins.map((login) => ({ ...login, type: 'terminal', args: ['--login', login.id] }))
}
