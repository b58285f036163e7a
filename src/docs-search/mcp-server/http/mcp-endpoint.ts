/** The MCP endpoint: checks who may connect and what a request must contain, and selects the protocol era. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isIP } from 'node:net'
import {
  hostHeaderValidation,
  type NodeIncomingMessageLike,
  originValidation,
  toNodeHandler,
} from '@modelcontextprotocol/node'
import { isJsonContentType, isLegacyRequest } from '@modelcontextprotocol/server'
import { Attempts } from '../../../credentials/rate-limit.ts'
import type { KeyHolder } from '../../keys/keys.ts'
import { offeredIn } from '../../keys/request-key.ts'
import type { Site } from '../../web/site/site.ts'
import type { StatelessHandler } from './stateless-handler.ts'
import { refusal, type RefusalName, sendRefusal } from './refusal.ts'
import type { McpExchange, Sessions } from './sessions.ts'

export interface McpEndpointOptions {
  /** Names that a request may call this host by; another one is a web page's trick to reach it. */
  readonly hosts: readonly string[]
  /** Whether any address in numbers will do: the trick needs a name, and who listens on all addresses cannot list them. */
  readonly addresses: boolean
  /** Whose key was offered, if any was; null for a wrong one. */
  readonly principalOf: (offered: string | null) => KeyHolder | null
  /** Whether the key may stand in the address. */
  readonly allowQueryKey: boolean
  readonly sessions: Sessions
  /** Answers all requests for pages. */
  readonly site: Pick<Site, 'answer'>
  /** Serves the revisions without sessions. */
  readonly modern: StatelessHandler
  readonly log: (line: string) => void
}

export type McpEndpoint = (request: IncomingMessage, response: ServerResponse) => Promise<void>

const PATHS = new Set(['/mcp', '/mcp/'])
const METHODS = new Set(['GET', 'POST', 'DELETE'])

export function mcpEndpoint(options: McpEndpointOptions): McpEndpoint {
  const hostIsOurs = hostHeaderValidation([...options.hosts])
  const originIsOurs = originValidation([...options.hosts])
  const attempts = new Attempts(() => performance.now())
  return async (request, response) => {
    const byAddress = options.addresses && isAddress(request.headers.host ?? '')
    if (!(byAddress || hostIsOurs(request, response))) return
    // A page of this server may call it by any accepted name.
    if (!isOwnPage(request) && !originIsOurs(request, response)) return
    if (await options.site.answer(request, response)) return
    const [path = '', query = ''] = (request.url ?? '').split('?', 2)
    if (!PATHS.has(path)) return sendRefusal(response, 'path')
    const params = new URLSearchParams(options.allowQueryKey ? query : '')
    const offered = offeredIn(request.headers) ?? params.get('api_key')
    const principal = options.principalOf(offered)
    if (principal === null)
      return refuseKey(response, { attempts, address: request.socket.remoteAddress ?? '', offered })
    const wrong = wrongIn(request)
    if (wrong !== null) return sendRefusal(response, wrong)
    const over = new Promise<void>((resolve) => response.once('close', () => resolve()))
    const streams = /\btext\/event-stream\b/i.test(request.headers.accept ?? '')
    const fetch = (web: Request) => route(options, web, { principal, streams, over })
    const onerror = (error: Error) => options.log(`A request failed: ${error.message}`)
    await toNodeHandler({ fetch }, { onerror })(request as NodeIncomingMessageLike, plainly(response))
  }
}

function isOwnPage({ headers: { origin = '', host } }: IncomingMessage): boolean {
  return URL.canParse(origin) && new URL(origin).host === host
}

function isAddress(host: string): boolean {
  return URL.canParse(`http://${host}`) && isIP(new URL(`http://${host}`).hostname.replace(/^\[|\]$/g, '')) !== 0
}

interface WrongKey {
  readonly attempts: Attempts
  readonly address: string
  /** Null: none, which is how clients ask what is needed. */
  readonly offered: string | null
}

/** A valid key is accepted even after invalid ones from the same address: only requests without one have to wait. */
function refuseKey(response: ServerResponse, { attempts, address, offered }: WrongKey): void {
  const wait = attempts.waitFor(address)
  if (offered !== null) attempts.wrong(address)
  if (offered === null || wait === 0) sendRefusal(response, 'key')
  else sendRefusal(response, 'manyKeys', { 'Retry-After': String(wait) })
}

/** The error of a request that its headers already show. */
function wrongIn({ method = '', headers }: IncomingMessage): RefusalName | null {
  if (!METHODS.has(method)) return 'method'
  if (method === 'POST' && !['', 'identity'].includes(headers['content-encoding'] ?? '')) return 'encoding'
  if (method === 'POST' && !isJsonContentType(headers['content-type'] ?? null)) return 'mediaType'
  if (method === 'POST' && !accepts(headers.accept, 'application/json')) return 'accept'
  if (method === 'GET' && !accepts(headers.accept, 'text/event-stream')) return 'acceptStream'
  return null
}

/** Without the header anything is accepted. */
function accepts(header: string | undefined, type: string): boolean {
  const ranges = (header ?? '*/*').split(',').map((range) => range.split(';', 1)[0]?.trim().toLowerCase())
  return ranges.some((range) => range === type || range === '*/*' || range === `${type.split('/', 1)[0]}/*`)
}

async function route(
  { sessions, modern }: McpEndpointOptions,
  web: Request,
  whose: Omit<McpExchange, 'request' | 'body'>,
): Promise<Response> {
  const body = web.method === 'POST' ? parseJson(await web.text()) : undefined
  if (body === NOT_JSON) return refusal('json')
  const request = acceptingAll(web)
  if (body === undefined && isModern(web)) return refusal('postOnly')
  if (await isLegacyRequest(request, body)) return sessions.handle({ request, body, ...whose })
  return modern.handle({ request, body, ...whose })
}

/** The first revision that has neither sessions to end nor a stream to get. */
const MODERN = '2026-07-28'

function isModern(request: Request): boolean {
  return (request.headers.get('mcp-protocol-version') ?? '') >= MODERN
}

const NOT_JSON = Symbol('not JSON')

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    // The refusal says what is wrong; there is nothing more to know.
    return NOT_JSON
  }
}

/** The SDK requires both media types, which many clients do not name. The client's own `Accept` was checked before. */
function acceptingAll(request: Request): Request {
  const headers = new Headers(request.headers)
  headers.set('accept', 'application/json, text/event-stream')
  return new Request(request.url, { method: request.method, headers, signal: request.signal })
}

/** The part of a response that the SDK's adapter writes to. */
export interface PlainResponse {
  writeHead(status: number, headers?: Record<string, string>): unknown
  write(chunk: string | Uint8Array): unknown
  end(): unknown
  on(event: string, listener: (...args: unknown[]) => void): unknown
  readonly destroyed: boolean
}

function plainly(response: ServerResponse): PlainResponse {
  const whole: (string | Uint8Array)[] = []
  let streams = false
  return {
    writeHead(status, headers = {}) {
      streams = headers['content-type'] === 'text/event-stream'
      response.statusCode = status
      for (const [name, value] of Object.entries(headers)) response.setHeader(titled(name), value)
      // A stream is open from its head on, not from its first message.
      if (streams) response.flushHeaders()
    },
    write: (chunk) => (streams ? response.write(chunk) : whole.push(chunk)),
    // Node sets the length of an answer that it gets in one piece; clients that read to the byte need it.
    end: () => (streams ? response.end() : response.end(Buffer.concat(whole.map((chunk) => Buffer.from(chunk))))),
    on: (event, listener) => response.on(event, listener),
    get destroyed() {
      return response.destroyed
    },
  }
}

function titled(name: string): string {
  return name.replaceAll(/(?<=^|-)[a-z]/g, (letter) => letter.toUpperCase())
}
