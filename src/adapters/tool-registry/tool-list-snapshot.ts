/** The list as agents and people see it: an immutable picture of what the servers of a registry offer now. */
import type { PromptTemplate, Resource, ResourceTemplate, Tool, ToolList } from '../../ports/tools.ts'
import type { ServerPrompt, ServerTool } from '../mcp/host/mcp-types.ts'
import { LOG_IN } from '../mcp/host/login-tool.ts'
import { registryName } from './names.ts'
import type { McpServerLifecycle } from '../mcp/host/mcp-server-lifecycle.ts'

export function snapshotOf(servers: readonly McpServerLifecycle[], version: number): ToolList {
  return frozen({
    version,
    tools: servers.flatMap((server) => server.offer().tools.map((tool) => toolOf(server, tool))),
    resources: servers.flatMap((server) => server.offer().resources.map((one): Resource => of(server, one))),
    templates: servers.flatMap((server) => server.offer().templates.map((one): ResourceTemplate => of(server, one))),
    prompts: servers.flatMap((server) => server.offer().prompts.map((one) => promptOf(server, one))),
    servers: servers.map((server) => server.status()),
  })
}

/** Its servers may live on in another registry; for this one they are closed. */
export function lastSnapshot(servers: readonly McpServerLifecycle[], version: number): ToolList {
  const closed = servers.map((server) => {
    const { name, title } = server.status()
    return { name, title, state: 'closed', tools: 0 } as const
  })
  return frozen({ version, tools: [], resources: [], templates: [], prompts: [], servers: closed })
}

function toolOf({ config }: McpServerLifecycle, tool: ServerTool): Tool {
  const { outputSchema: _, ...told } = tool
  const { label: server, trusted } = config
  return { name: registryName(server, tool.serverToolName), ...told, server, builtin: trusted || tool === LOG_IN }
}

function promptOf(server: McpServerLifecycle, prompt: ServerPrompt): PromptTemplate {
  return of(server, { name: registryName(server.config.label, prompt.serverPromptName), ...prompt })
}

function of<Item extends object>({ config }: McpServerLifecycle, item: Item): Item & { readonly server: string } {
  return { ...item, server: config.label }
}

function frozen(list: ToolList): ToolList {
  for (const part of Object.values(list)) Object.freeze(part)
  return Object.freeze(list)
}
