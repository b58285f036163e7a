/** What a call of an MCP server's tool is for, as far as it lets us tell. */
import type { ToolKind } from '../../ports/content.ts'
import type { Tool } from '../../ports/tools.ts'

export function kindOf(tool: Pick<Tool, 'serverToolName' | 'readOnly'> | undefined): ToolKind {
  if (tool === undefined) return 'other'
  if (/search|find|query/iu.test(tool.serverToolName)) return 'search'
  if (/fetch|download/iu.test(tool.serverToolName)) return 'fetch'
  return tool.readOnly ? 'read' : 'other'
}

/** How much of a query is said. Characters. */
const LONGEST = 80

/** What is searched for tells one search from the next; undefined where nothing is. */
export function titleOf({ title, server }: Pick<Tool, 'title' | 'server'>, args: unknown): string | undefined {
  const { query } = (args ?? {}) as { readonly query?: unknown }
  if (typeof query !== 'string' || query.trim() === '') return undefined
  const words = query.trim().replace(/\s+/gu, ' ')
  const said = words.length > LONGEST ? `${words.slice(0, LONGEST).replace(/\p{Cs}$/u, '')} …` : words
  return `${title}: “${said}” (${server})`
}
