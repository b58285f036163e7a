/** An MCP server over the document tools; every session and every modern request has its own. */
import {
  type CallToolResult,
  type Implementation,
  ProtocolError,
  ProtocolErrorCode,
  Server,
} from '@modelcontextprotocol/server'
import { ParleyError, reasonOf } from '../errors/parley-error.ts'
import type { DocumentIndex } from './index/protocol.ts'
import { minDocGlobalSearch } from './tools/min-doc-global-search.ts'
import { readDocument } from './tools/read-document.ts'
import { searchDocuments } from './tools/search-documents.ts'
import { Arguments, type DocumentTool } from './tools/tool.ts'

export interface Toolbox {
  readonly tools: readonly DocumentTool[]
  /** False while no served directory is there: the tools are withdrawn, and clients are told. */
  available: boolean
}

export function toolboxOver(index: DocumentIndex): Toolbox {
  return { tools: [minDocGlobalSearch(index), searchDocuments(index), readDocument(index)], available: true }
}

export function mcpServer(about: Implementation, toolbox: Toolbox, log: (line: string) => void): Server {
  const server = new Server(about, { capabilities: { tools: { listChanged: true } } })
  server.setRequestHandler('tools/list', () => ({
    tools: toolbox.available ? toolbox.tools.map((tool) => tool.definition) : [],
  }))
  server.setRequestHandler('tools/call', async ({ params }) => {
    const tool = toolbox.tools.find(({ definition }) => definition.name === params.name)
    if (tool === undefined) throw unknownTool(params.name)
    return callOf(tool, params.arguments, log)
  })
  return server
}

function unknownTool(name: string): ProtocolError {
  const { message } = new ParleyError('TOOL_UNKNOWN', { tool: JSON.stringify(name.slice(0, 100)) })
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message)
}

/** A withdrawn tool still answers: that its directory is gone. A failure is never an empty result. */
async function callOf(
  tool: DocumentTool,
  values: Readonly<Record<string, unknown>> | undefined,
  log: (line: string) => void,
): Promise<CallToolResult> {
  try {
    return await tool.call(new Arguments(tool.definition.name, values))
  } catch (error) {
    const known = error instanceof ParleyError ? error : new ParleyError('INTERNAL_ERROR', {}, error)
    if (known !== error) log(`${tool.definition.name} failed: ${reasonOf(error)}`)
    return { content: [{ type: 'text', text: known.message }], isError: true }
  }
}
