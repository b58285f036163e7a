/** `parley docs`: serves directories of documents to MCP clients, over Streamable HTTP. */
import { once } from 'node:events'
import { createServer, type Server as HttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { hostname } from 'node:os'
import { createMcpHandler } from '@modelcontextprotocol/server'
import { fail, reasonOf } from '../errors/parley-error.ts'
import { endpoint } from './http/endpoint.ts'
import { Sessions } from './http/sessions.ts'
import { IndexClient } from './index/client.ts'
import type { IndexLimits } from './index/protocol.ts'
import { checkDirectories } from './directories.ts'
import { keyRing, weaknessOf, withoutKeys } from './keys.ts'
import { mcpServer, toolboxOver } from './mcp.ts'

export interface DocsServerOptions {
  /** One or more; each must be there at the start. */
  readonly directories: readonly string[]
  /** What clients are told. */
  readonly name: string
  readonly version: string
  /** Any of them opens the door; a session belongs to the key that opened it. */
  readonly keys: readonly string[]
  /** The bundle of `index/worker.ts`. */
  readonly workerUrl: URL
  /** One line at a time, without any key in it. */
  readonly log: (line: string) => void
  /** 0 or absent: a free one. */
  readonly port?: number
  /** 127.0.0.1 if absent. */
  readonly host?: string
  /** Further names by which requests may call this host, when it listens on more than loopback. */
  readonly allowedHosts?: readonly string[]
  /** Whether `?api_key=` is accepted; by default only on loopback, because addresses end up in logs. */
  readonly allowQueryKey?: boolean
  readonly limits?: Partial<IndexLimits>
  /** Looks for changes every two seconds instead of asking the system, as network file systems need it. */
  readonly poll?: boolean
  /** A session without a request for so long is ended; half an hour if absent. */
  readonly sessionIdleMs?: number
  /** One session more ends the one that was quiet for longest; 1,000 if absent. */
  readonly mostSessions?: number
}

export interface DocsServer extends AsyncDisposable {
  /** The endpoint, without a key. */
  readonly url: string
  readonly port: number
  /** Ends sessions, connections and the index. Idempotent. */
  close(): Promise<void>
}

const LIMITS: IndexLimits = { files: 20_000, bytes: 200_000_000 }
const HALF_AN_HOUR = 30 * 60_000
const MOST_SESSIONS = 1_000

/**
 * Resolves as soon as it listens; a search waits for the first index. Throws DIRECTORY_MISSING, DOCS_KEY_MISSING,
 * DOCS_KEY_WEAK or DOCS_LISTEN.
 */
export async function openDocsServer(options: DocsServerOptions): Promise<DocsServer> {
  const { host = '127.0.0.1', port = 0, poll = false, directories } = options
  const loopback = isLoopback(host)
  const log = withoutKeys(options.keys, options.log)
  const keyOf = keyRing(options.keys)
  if (!loopback) refuseWeakKeys(options.keys)
  await checkDirectories(directories)

  const limits = { ...LIMITS, ...options.limits }
  const index = new IndexClient(
    options.workerUrl,
    { directories, limits, poll },
    {
      log,
      directories: (present) => setAvailable(present.includes(true)),
    },
  )
  const toolbox = toolboxOver(index)
  const build = () => mcpServer({ name: options.name, version: options.version }, toolbox, log)
  const { sessionIdleMs = HALF_AN_HOUR, mostSessions = MOST_SESSIONS } = options
  const sessions = new Sessions({ build, idleMs: sessionIdleMs, most: mostSessions })
  const modern = createMcpHandler(build, { legacy: 'reject' })
  function setAvailable(available: boolean): void {
    if (toolbox.available === available) return
    toolbox.available = available
    modern.notify.toolsChanged()
    sessions.toolsChanged().catch((error: unknown) => log(`Clients could not be told of a change: ${reasonOf(error)}`))
  }

  const hosts = [
    'localhost',
    '127.0.0.1',
    '[::1]',
    ...(loopback ? [] : [host, hostname()]),
    ...(options.allowedHosts ?? []),
  ]
  const { allowQueryKey = loopback } = options
  const answer = endpoint({ hosts, addresses: !loopback, keyOf, allowQueryKey, sessions, modern, log })
  // Longer than clients keep a connection, so that none sends a request into one that is being closed.
  const http = createServer({ keepAliveTimeout: 75_000 }, (request, response) => void answer(request, response))
  const close = closeOnce(async () => {
    await Promise.all([sessions.close(), modern.close(), closed(http), index[Symbol.asyncDispose]()])
  })
  try {
    await listen(http, host, port)
  } catch (error) {
    await close()
    throw error
  }
  const bound = (http.address() as AddressInfo).port
  return { url: `http://${urlHost(host)}:${bound}/mcp`, port: bound, close, [Symbol.asyncDispose]: close }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.')
}

function urlHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

function refuseWeakKeys(keys: readonly string[]): void {
  for (const key of keys) {
    const reason = weaknessOf(key)
    if (reason !== undefined) fail('DOCS_KEY_WEAK', { source: 'the options', reason })
  }
}

async function listen(http: HttpServer, host: string, port: number): Promise<void> {
  http.listen(port, host)
  try {
    await once(http, 'listening')
  } catch (error) {
    fail('DOCS_LISTEN', { host, port, reason: reasonOf(error) }, error)
  }
}

async function closed(http: HttpServer): Promise<void> {
  const over = new Promise<void>((resolve) => http.close(() => resolve()))
  http.closeAllConnections()
  await over
}

function closeOnce(close: () => Promise<void>): () => Promise<void> {
  let closing: Promise<void> | undefined
  return () => (closing ??= close())
}
