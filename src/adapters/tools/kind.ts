/** What a tool of an MCP server is for, as far as it lets us tell. */
import type { ToolKind } from '../../ports/content.ts'
import type { Tool } from '../../ports/tools.ts'

export function kindOf(tool: Pick<Tool, 'original' | 'readOnly'> | undefined): ToolKind {
  if (tool === undefined) return 'other'
  if (/search|find|query/iu.test(tool.original)) return 'search'
  if (/fetch|download/iu.test(tool.original)) return 'fetch'
  return tool.readOnly ? 'read' : 'other'
}
