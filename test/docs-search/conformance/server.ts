/** The suite's features behind the document server's own door: same HTTP stack, same guards, same sessions, same eras. */
import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError, Server } from '@modelcontextprotocol/server'
import { type DocsListener, openHttpListener } from '../../../src/docs-search/mcp-server/http/http-listener.ts'
import type { ClientServer } from '../../../src/docs-search/mcp-server/mcp.ts'
import { fail } from '../../../src/errors/parley-error.ts'
import { FEATURES, PROMPTS, resourceAt, verifyState, type World } from './features.ts'

const ANYONE = { id: 'anyone', name: 'anyone', collections: 'all' } as const
const CACHE = { ttlMs: 1_000, cacheScope: 'private' } as const

/** On loopback and without a key, because some scenarios send none. */
export async function openConformanceDoor(): Promise<DocsListener> {
  let door: DocsListener | undefined
  const world: World = { toolsChanged: () => door?.notify({ kind: 'collections' }) }
  door = await openHttpListener({
    service: {
      open: () => served(world),
      newsFor: () => (change) => change,
      principalOf: () => ANYONE,
      view: () => fail('DOCS_INDEX_UNAVAILABLE', { reason: 'the suite brings no documents' }),
    },
    log: () => undefined,
    host: '127.0.0.1',
    port: 0,
    insecureHttp: false,
    allowedHosts: [],
    allowQueryKey: true,
    sessionIdleMs: 60_000,
    mostSessions: 1_000,
  })
  return door
}

function served(world: World): ClientServer {
  const server = new Server(
    { name: 'parley-docs-conformance', version: '0.0.0' },
    {
      capabilities: {
        tools: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        prompts: {},
        completions: {},
        logging: {},
      },
      requestState: { verify: verifyState },
      cacheHints: {
        'tools/list': CACHE,
        'prompts/list': CACHE,
        'resources/list': CACHE,
        'resources/templates/list': CACHE,
        'resources/read': CACHE,
        'server/discover': CACHE,
      },
    },
  )
  offerTools(server, world)
  offerPrompts(server)
  offerResources(server)
  server.setRequestHandler('completion/complete', () => ({ completion: { values: [], total: 0, hasMore: false } }))
  return {
    server,
    async notify({ kind }) {
      if (kind === 'collections') await server.sendToolListChanged()
    },
  }
}

function offerTools(server: Server, world: World): void {
  const tools = Object.entries(FEATURES).map(([name, { arguments: names = [] }]) => ({
    name,
    description: `The feature ${name} of the conformance suite.`,
    inputSchema: {
      type: 'object' as const,
      properties: Object.fromEntries(names.map((argument) => [argument, { type: 'string' }])),
      required: [...names],
      additionalProperties: false,
    },
  }))
  server.setRequestHandler('tools/list', () => ({ tools }))
  server.setRequestHandler('tools/call', async ({ params }, ctx) => {
    const feature = FEATURES[params.name]
    if (feature === undefined)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${params.name}.`)
    return feature.call(params.arguments ?? {}, ctx, world)
  })
}

function offerPrompts(server: Server): void {
  const prompts = Object.entries(PROMPTS).map(([name, { arguments: names }]) => ({
    name,
    description: `The prompt ${name} of the conformance suite.`,
    arguments: names.map((argument) => ({ name: argument, description: 'An argument.', required: true })),
  }))
  server.setRequestHandler('prompts/list', () => ({ prompts }))
  server.setRequestHandler('prompts/get', ({ params }, ctx) => {
    const prompt = PROMPTS[params.name]
    if (prompt === undefined)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no prompt ${params.name}.`)
    return prompt.get(params.arguments ?? {}, ctx)
  })
}

function offerResources(server: Server): void {
  const resources = ['static-text', 'static-binary', 'watched-resource'].map((name) => ({
    uri: `test://${name}`,
    name,
    description: `The resource ${name} of the conformance suite.`,
    mimeType: resourceAt(`test://${name}`)?.mimeType ?? 'text/plain',
  }))
  const template = { uriTemplate: 'test://template/{id}/data', name: 'template', mimeType: 'application/json' }
  server.setRequestHandler('resources/list', () => ({ resources }))
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [template] }))
  server.setRequestHandler('resources/read', ({ params: { uri } }) => {
    const found = resourceAt(uri)
    if (found === undefined) throw new ResourceNotFoundError(uri)
    return { contents: [{ uri, ...found }] }
  })
  server.setRequestHandler('resources/subscribe', () => ({}))
  server.setRequestHandler('resources/unsubscribe', () => ({}))
}
