/** The one tool of a server that lets nobody in yet: it sends the person to the page where they log in. */
import { isParleyError } from '../../../errors/parley-error.ts'
import type { ToolResult } from '../../../ports/tools.ts'
import type { CallOptions, Offer, ServerTool } from './mcp-types.ts'
import type { Authorization } from '../oauth/authorization.ts'

const NO_ARGUMENTS = { type: 'object', properties: {} } as const

/** Ours, whatever the server calls its own tools: it changes nothing but who is let in, and asks before that. */
export const LOG_IN: ServerTool = {
  serverToolName: 'log_in',
  title: 'Log in',
  description:
    'This server lets nobody in before the user has logged in. Call this to send the user to the page where that is done; the tools of the server are listed afterwards.',
  inputSchema: NO_ARGUMENTS,
  modelSchema: NO_ARGUMENTS,
  readOnly: true,
  definitionHash: 'parley',
}

export const LOCKED: Offer = { tools: [LOG_IN], resources: [], templates: [], prompts: [] }

interface LogIn {
  readonly label: string
  readonly authorization: Authorization
  /** Connects the server with what the login brought, and says what keeps it from that. */
  readonly connect: () => Promise<string | undefined>
  /** Why it is locked, and what else to do. */
  readonly reason: string
}

/** That nobody logged in is an answer, for the agent to read. */
export async function loginTool(
  { label, authorization, connect, reason }: LogIn,
  options: CallOptions,
): Promise<ToolResult> {
  const { askToLogIn } = await import('../transport/authorization.ts')
  try {
    if (!(await askToLogIn({ label, authorization }, options))) return says(`Nobody logged in. ${reason}`, true)
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
