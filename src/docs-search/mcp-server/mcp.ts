/** An MCP server over the documents that one key opens; every session and every modern request has its own. */
import {
  type CallToolResult,
  type Implementation,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type Tool,
} from '@modelcontextprotocol/server'
import { ParleyError, reasonOf } from '../../errors/parley-error.ts'
import type { Change } from '../collections/collection-set.ts'
import { offerResources } from './resources.ts'
import { Arguments, type DocumentTool } from './tools/tool.ts'
import type { Era, CollectionView } from '../collections/view.ts'
import { listDocuments } from './tools/list-documents.ts'
import { minDocGlobalSearch } from './tools/min-doc-global-search.ts'
import { outline } from './tools/outline.ts'
import { readDocument } from './tools/read-document.ts'
import { searchDocuments } from './tools/search-documents.ts'

/** A server for one client, and the functions that send it changes. */
export interface ClientServer {
  readonly server: Server
  notify(change: Change): Promise<void>
}

export interface McpOptions {
  readonly about: Implementation
  readonly view: CollectionView
  readonly log: (line: string) => void
}

/** A client must not cache what only its key opens for others, and documents change at any time. */
const CACHE = { ttlMs: 5_000, cacheScope: 'private' } as const

export function documentServer({ about, view, log }: McpOptions, era: Era): ClientServer {
  const server = new Server(about, {
    capabilities: { tools: { listChanged: true }, resources: { subscribe: true, listChanged: true }, completions: {} },
    cacheHints: {
      'tools/list': CACHE,
      'resources/list': CACHE,
      'resources/read': CACHE,
      'resources/templates/list': CACHE,
    },
  })
  server.setRequestHandler('tools/list', () => ({ tools: toolsOf(view.present()) }))
  server.setRequestHandler('tools/call', async ({ params }) => {
    const tool = TOOLS.find(({ name }) => name === params.name)
    if (tool === undefined) throw unknownTool(params.name)
    return callOf(tool, new Arguments(tool.name, params.arguments, view), log)
  })
  const isSubscribed = offerResources(server, view, era)
  const news = newsFor(view)
  return {
    server,
    async notify(change) {
      const announced = news(change)
      if (announced?.kind === 'collections') await server.sendToolListChanged()
      if (announced?.kind === 'resources') await server.sendResourceListChanged()
      if (announced?.kind !== 'updated') return
      const uris = announced.uris.flatMap(isSubscribed)
      await Promise.all(uris.map((uri) => server.sendResourceUpdated({ uri })))
    },
  }
}

/** The part of a change that a client with this view learns of. Tool descriptions name the collections, so the tool list changes with them. */
export function newsFor(view: CollectionView): (change: Change) => Change | null {
  const collections = () => view.present().join('\n')
  let present = collections()
  return (change) => {
    if (change.kind === 'updated') {
      const uris = change.uris.filter((uri) => view.opens(uri))
      return uris.length === 0 ? null : { kind: 'updated', uris }
    }
    if (change.kind === 'resources') return change
    const before = present
    present = collections()
    return present === before ? null : change
  }
}

function unknownTool(name: string): ProtocolError {
  const { message } = new ParleyError('TOOL_UNKNOWN', { tool: JSON.stringify(name.slice(0, 100)) })
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message)
}

/** A withdrawn tool still answers: that its directory is gone. A failure is never an empty result. */
async function callOf(tool: DocumentTool, args: Arguments, log: (line: string) => void): Promise<CallToolResult> {
  try {
    return await tool.call(args)
  } catch (error) {
    const known = error instanceof ParleyError ? error : new ParleyError('INTERNAL_ERROR', {}, error)
    if (known !== error) log(`${tool.name} failed: ${reasonOf(error)}`)
    return { content: [{ type: 'text', text: known.message }], isError: true }
  }
}

const TOOLS: readonly DocumentTool[] = [minDocGlobalSearch, searchDocuments, readDocument, listDocuments, outline]

/** Withdrawn while none of the collections is there. */
function toolsOf(present: readonly string[]): Tool[] {
  return present.length === 0 ? [] : TOOLS.map((tool) => tool.definition(present))
}
