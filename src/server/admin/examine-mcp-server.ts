/** Connects to one MCP server as a session would, without a session and without the state, and reports all that it offers. */
import type { Config } from '../../config/settings.ts'
import type { McpServer, ToolList } from '../../ports/tools.ts'
import { openTools } from '../compose/inspect.ts'

export interface Examined extends ToolList {
  /** Problems of the server, in sentences. */
  readonly warnings: readonly string[]
}

/** Everything a connection may take, and then some for its resources and prompts. */
const READY_TIMEOUT_MS = 40_000
const AFTERWARDS_MS = 300

/** Never throws for what the server does; its state says how it went. */
export async function examine(config: Config, server: McpServer, signal: AbortSignal): Promise<Examined> {
  const warnings: string[] = []
  const tools = openTools(config, (sentence) => warnings.push(sentence))
  const cwd = process.cwd()
  const registry = tools.host.open({ scope: 'examination', cwd, roots: [cwd], servers: [server] })
  try {
    await registry.ready(READY_TIMEOUT_MS, signal)
    // They are listed after the tools, in the background; here the command waits for them.
    await tools.after(AFTERWARDS_MS)
    return { ...registry.list(), warnings }
  } finally {
    await registry.close()
    await tools.close()
  }
}
