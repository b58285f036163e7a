/** The only tool of a server that requires a login: it sends the user to the login page. */
import { isParleyError } from '../../../errors/parley-error.ts'
import type { ToolResult } from '../../../ports/tools.ts'
import type { CallOptions, ServerOffer, ServerTool } from './mcp-types.ts'
import type { Authorization } from '../oauth/authorization.ts'

const NO_ARGUMENTS = { type: 'object', properties: {} } as const

/** A tool of Parley itself, not of the server. It only changes the login, and asks the user first. */
export const LOG_IN: ServerTool = {
  serverToolName: 'log_in',
  title: 'Log in',
  description:
    'This server requires a login. Call this tool to send the user to the login page; the tools of the server are listed afterwards.',
  inputSchema: NO_ARGUMENTS,
  modelSchema: NO_ARGUMENTS,
  readOnly: true,
  definitionHash: 'parley',
}

export const LOCKED: ServerOffer = { tools: [LOG_IN], resources: [], templates: [], prompts: [] }

interface LogIn {
  readonly label: string
  readonly authorization: Authorization
  /** Connects the server with the new token; resolves with the reason if that fails. */
  readonly connect: () => Promise<string | undefined>
  /** Why the server is locked, and what the user can do. */
  readonly reason: string
}

/** A login that did not happen is a result that the agent can read. */
export async function loginTool(
  { label, authorization, connect, reason }: LogIn,
  options: CallOptions,
): Promise<ToolResult> {
  const { askToLogIn } = await import('../transport/authorization.ts')
  try {
    if (!(await askToLogIn({ label, authorization }, options))) return says(`The user did not log in. ${reason}`, true)
  } catch (error) {
    if (!isParleyError(error, 'MCP_LOGIN_FAILED')) throw error
    return says(error.message, true)
  }
  const wrong = await connect()
  return wrong === undefined
    ? says(`The user is logged in to ${label}. Its tools are listed now.`, false)
    : says(wrong, true)
}

function says(text: string, isError: boolean): ToolResult {
  return { content: [{ type: 'text', text }], isError }
}
