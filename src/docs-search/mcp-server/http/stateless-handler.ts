/** Clients of the revisions without sessions: each request has a server of its own, and changes are published per key. */
import { createMcpHandler, type McpHttpHandler } from '@modelcontextprotocol/server'
import type { KeyHolder } from '../../keys/keys.ts'
import type { Change } from '../../collections/collection-set.ts'
import type { ClientServer } from '../mcp.ts'
import { endingWith } from './response-body.ts'
import type { McpExchange } from './sessions.ts'

export interface StatelessHandlerOptions {
  readonly build: (principal: KeyHolder) => ClientServer
  /** The part of a change that this key's clients learn of, or null. */
  readonly newsFor: (principal: KeyHolder) => (change: Change) => Change | null
}

interface KeyEndpoint {
  readonly principal: KeyHolder
  readonly handler: McpHttpHandler
  readonly news: (change: Change) => Change | null
}

export class StatelessHandler {
  readonly #options: StatelessHandlerOptions
  readonly #endpoints = new Map<string, KeyEndpoint>()

  constructor(options: StatelessHandlerOptions) {
    this.#options = options
  }

  async handle({ request, body, principal, over }: McpExchange): Promise<Response> {
    const answer = await this.#endpointOf(principal).handler.fetch(request, { parsedBody: body })
    return answer.headers.get('content-type') === 'text/event-stream' ? endingWith(answer, over) : answer
  }

  #endpointOf(principal: KeyHolder): KeyEndpoint {
    const known = this.#endpoints.get(principal.id)
    if (known !== undefined) return known
    const handler = createMcpHandler(() => this.#options.build(principal).server, { legacy: 'reject' })
    const endpoint = { principal, handler, news: this.#options.newsFor(principal) }
    this.#endpoints.set(principal.id, endpoint)
    return endpoint
  }

  /** Notifies the clients that listen. */
  tell(change: Change): void {
    for (const { handler, news } of this.#endpoints.values()) {
      const announced = news(change)
      if (announced?.kind === 'collections') handler.notify.toolsChanged()
      if (announced?.kind === 'resources') handler.notify.resourcesChanged()
      if (announced?.kind === 'updated') for (const uri of announced.uris) handler.notify.resourceUpdated(uri)
    }
  }

  /** Ends the streams of keys that were removed or have other collections now. */
  async retain(knows: (principal: KeyHolder) => boolean): Promise<void> {
    const gone = [...this.#endpoints].filter(([, { principal }]) => !knows(principal))
    for (const [id] of gone) this.#endpoints.delete(id)
    await Promise.all(gone.map(([, { handler }]) => handler.close()))
  }

  close(): Promise<void> {
    return this.retain(() => false)
  }
}
