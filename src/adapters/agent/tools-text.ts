/** Lists the session's tools and MCP servers as Markdown. */
import type { ServerStatus, Tool, ToolList } from '../../ports/tools.ts'

export function toolsText({ servers, tools }: ToolList): string {
  const own = tools.filter((tool) => servers.every(({ name }) => tool.server !== name))
  const groups = [
    ...(own.length === 0 ? [] : [['**Parley’s own**', ...own.map(line)]]),
    ...servers.map((server) => [
      `**${server.title}** (${stateText(server)})`,
      ...tools.filter((tool) => tool.server === server.name).map(line),
    ]),
  ]
  return groups.length === 0 ? 'This session has no tools.' : groups.map((lines) => lines.join('\n')).join('\n\n')
}

function line({ name, description, title }: Tool): string {
  return `- \`${name}\` ${firstLine(description || title)}`
}

function stateText({ state, reason }: ServerStatus): string {
  return reason === undefined ? state : `${state}: ${reason}`
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? ''
}
