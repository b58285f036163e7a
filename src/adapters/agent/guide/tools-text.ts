/** The session's tools and servers, for people. */
import type { ServerStatus, ToolList } from '../../../ports/tools.ts'

export function toolsText({ servers, tools }: ToolList): string {
  if (servers.length === 0) return 'This session has no tools.'
  return servers
    .map((server) => {
      const own = tools.filter((tool) => tool.server === server.name)
      const lines = own.map((tool) => `- \`${tool.name}\` ${firstLine(tool.description || tool.title)}`)
      return [`**${server.title}** (${stateText(server)})`, ...lines].join('\n')
    })
    .join('\n\n')
}

function stateText({ state, reason }: ServerStatus): string {
  return reason === undefined ? state : `${state}: ${reason}`
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? ''
}
