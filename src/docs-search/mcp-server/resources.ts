/** Documents as MCP resources: listed, read, found by template, and watched. */
import {
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  ResourceNotFoundError,
  type Resource,
  type Server,
} from '@modelcontextprotocol/server'
import { isParleyError, ParleyError, reasonOf } from '../../errors/parley-error.ts'
import { completed, TEMPLATES } from './completion.ts'
import type { DocumentInfo } from '../index/worker/protocol.ts'
import { afterOf, cursorAfter } from './tools/cursor.ts'
import type { Era, CollectionView } from '../collections/view.ts'

const RESOURCES_PER_PAGE = 100
const LONGEST_TEXT = 1_000_000

/** Returns, for a changed document, the addresses to which this client subscribed. */
export function offerResources(server: Server, view: CollectionView, era: Era): (uri: string) => readonly string[] {
  server.setRequestHandler('resources/list', ({ params }) => asProtocol(() => listed(view, params?.cursor)))
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [...TEMPLATES] }))
  server.setRequestHandler('resources/read', ({ params }) => asProtocol(() => contents(view, params.uri)))
  server.setRequestHandler('completion/complete', ({ params }) => asProtocol(() => completed(view, params)))
  // A modern client names what it wants in the request that listens; the SDK keeps to that.
  if (era === 'modern') return (uri) => [uri]
  const subscribed = new Set<string>()
  server.setRequestHandler('resources/subscribe', ({ params }) =>
    asProtocol(async () => {
      await view.index.outline({ uri: params.uri, collections: view.all() })
      subscribed.add(params.uri)
      return {}
    }),
  )
  server.setRequestHandler('resources/unsubscribe', ({ params }) => {
    subscribed.delete(params.uri)
    return {}
  })
  return (uri) => [...subscribed].filter((wanted) => wanted === uri || wanted.startsWith(`${uri}#`))
}

async function listed(
  view: CollectionView,
  cursor: string | undefined,
): Promise<{ resources: Resource[]; nextCursor?: string }> {
  const after = cursor === undefined ? undefined : afterOf('resources', cursor)
  // As with the tools: where no collection is there, nothing is offered.
  if (view.present().length === 0) return { resources: [] }
  const collections = view.all()
  const { documents, next } = await view.index.list({
    collections,
    limit: RESOURCES_PER_PAGE,
    ...(after === undefined ? {} : { after }),
  })
  const resources = documents.map(resourceOf)
  return next === undefined ? { resources } : { resources, nextCursor: cursorAfter('resources', next) }
}

function resourceOf({ uri, title, collection, file, mimeType, bytes, modified }: DocumentInfo): Resource {
  return { uri, name: `${collection}/${file}`, title, mimeType, size: bytes, annotations: { lastModified: modified } }
}

async function contents(view: CollectionView, uri: string): Promise<ReadResourceResult> {
  // From its start or a section, never empty: the end of a very long one is for read_document.
  const excerpt = await view.index.read({ uri, collections: view.all(), limit: LONGEST_TEXT })
  const cut = excerpt.nextOffset === undefined ? {} : { _meta: { 'parley/nextOffset': excerpt.nextOffset } }
  return { contents: [{ uri, mimeType: excerpt.mimeType, text: excerpt.text, ...cut }] }
}

/** Errors as the protocol has them: a missing resource with its address, wrong parameters and failures by their codes. */
async function asProtocol<Result>(step: () => Promise<Result>): Promise<Result> {
  try {
    return await step()
  } catch (error) {
    if (error instanceof ProtocolError) throw error
    if (isParleyError(error, 'DOCUMENT_UNKNOWN')) throw new ResourceNotFoundError(error.details.uri, error.message)
    const known = error instanceof ParleyError ? error : new ParleyError('INTERNAL_ERROR', {}, error)
    const code = known.rpc === -32602 ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError
    throw new ProtocolError(code, known === error ? known.message : `${known.message} (${reasonOf(error)})`)
  }
}
