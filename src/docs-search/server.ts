/** `parley docs`: serves collections of documents to MCP clients, over Streamable HTTP. */
import { fail } from '../errors/parley-error.ts'
import { checkDirectories, merged } from './collections/state.ts'
import { type Collection, collectionsOf } from './index/collections.ts'
import { isLoopback } from '../net-policy/loopback.ts'
import { type Certificate, openHttpListener } from './mcp-server/http/http-listener.ts'
import type { IndexLimits } from './index/worker/protocol.ts'
import { DocsKeys, type KnownKey, type KeyHolder, weaknessOf, withoutKeys } from './keys/keys.ts'
import { CollectionSet } from './collections/collection-set.ts'
import { documentServer, newsFor } from './mcp-server/mcp.ts'
import { type CollectionView, viewOf } from './collections/view.ts'

export interface CollectionSettings {
  /** One collection each; each must be there at the start. */
  readonly directories: readonly string[]
  /** Collections that may come and go; `setAdded` says which there are now. */
  readonly added?: readonly Collection[]
  /** The name and version that clients see. */
  readonly name: string
  readonly version: string
  /** The bundle of `index/worker.ts`. */
  readonly workerUrl: URL
  /** One line at a time, without any key in it. */
  readonly log: (line: string) => void
  readonly limits?: Partial<IndexLimits>
  /** Looks for changes every two seconds instead of asking the system, as network file systems need it. */
  readonly poll?: boolean
  /** Whether source code is searched too. */
  readonly code?: boolean
  /** Where the index is kept between runs; it lives as long as the server if absent. */
  readonly indexFile?: string
  /** For files that only a library can read. */
  readonly extract?: { readonly milliseconds?: number; readonly megabytes?: number }
}

export interface DocsServerOptions extends CollectionSettings {
  /** Any of them opens everything; a session belongs to the key that opened it. */
  readonly keys: readonly string[]
  /** Keys that may come and go; `setKeys` says which there are now. */
  readonly namedKeys?: readonly KnownKey[]
  /** 0 or absent: a free one. */
  readonly port?: number
  /** 127.0.0.1 if absent. */
  readonly host?: string
  /** Without it, other addresses than loopback are refused. */
  readonly tls?: Certificate
  readonly insecureHttp?: boolean
  /** Further names by which requests may call this host, when it listens on more than loopback. */
  readonly allowedHosts?: readonly string[]
  /** Whether `?api_key=` is accepted; by default only on loopback, because addresses end up in logs. */
  readonly allowQueryKey?: boolean
  /** A session without a request for so long is ended; half an hour if absent. */
  readonly sessionIdleMs?: number
  /** One session more ends the one that was idle for longest; 1,000 if absent. */
  readonly mostSessions?: number
}

export interface DocsServer extends AsyncDisposable {
  /** The endpoint, without a key. */
  readonly url: string
  /** The address of the page for users. */
  readonly page: string
  readonly port: number
  /** Serves these in addition to the directories it was started with, and notifies clients. */
  setAdded(collections: readonly Collection[]): void
  /** Accepts these keys in addition to those it was started with. Sessions with other keys end. */
  setKeys(keys: readonly KnownKey[]): Promise<void>
  /** Ends sessions, connections and the index. Idempotent. */
  close(): Promise<void>
}

const LIMITS: IndexLimits = { files: 20_000, bytes: 200_000_000 }
const SESSION_IDLE_MS = 30 * 60_000
const MAX_SESSIONS = 1_000

/**
 * Resolves as soon as it listens; a search waits for the first index. Throws DIRECTORY_MISSING, DOCS_KEY_MISSING,
 * DOCS_KEY_WEAK, DOCS_PLAIN_HTTP, DOCS_TLS or DOCS_LISTEN.
 */
export async function openDocsServer(options: DocsServerOptions): Promise<DocsServer> {
  const { host = '127.0.0.1', namedKeys = [] } = options
  const log = withoutKeys(options.keys, options.log)
  const ring = new DocsKeys(options.keys)
  ring.setNamed(namedKeys)
  if (!isLoopback(host)) refuseWeakKeys(options.keys)
  const library = await openCollections({ ...options, log })
  const view = viewsOf(library)
  const about = { name: options.name, version: options.version }
  const service = {
    open: (principal: KeyHolder, era: 'legacy' | 'modern') =>
      documentServer({ about, view: view(principal), log }, era),
    newsFor: (principal: KeyHolder) => newsFor(view(principal)),
    view,
    principalOf: (offered: string | null) => (offered === null ? null : ring.principalOf(offered)),
  }
  try {
    const listener = await openHttpListener({
      ...HTTP,
      ...defined(options),
      allowQueryKey: options.allowQueryKey ?? isLoopback(host),
      service,
      log,
    })
    library.listen((change) => listener.notify(change))
    const close = closeOnce(async () => {
      await Promise.all([listener.close(), library[Symbol.asyncDispose]()])
    })
    return {
      url: listener.url,
      page: listener.page,
      port: listener.port,
      setAdded: (added) => library.setCollections(merged(collectionsOf(options.directories), added)),
      async setKeys(keys) {
        ring.setNamed(keys)
        await listener.retain((principal) => ring.knows(principal))
      },
      close,
      [Symbol.asyncDispose]: close,
    }
  } catch (error) {
    await library[Symbol.asyncDispose]()
    throw error
  }
}

const HTTP = {
  host: '127.0.0.1',
  port: 0,
  insecureHttp: false,
  allowedHosts: [],
  sessionIdleMs: SESSION_IDLE_MS,
  mostSessions: MAX_SESSIONS,
}

/** Removes options whose value is undefined. */
function defined<Options extends object>(options: Options): Options {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Options
}

/** Throws DIRECTORY_MISSING. */
export async function openCollections(settings: CollectionSettings): Promise<CollectionSet> {
  const { directories, added = [], limits, poll = false, code = false, workerUrl, log, indexFile, extract } = settings
  if (directories.length === 0 && added.length === 0) {
    fail('DIRECTORY_MISSING', { what: 'The directory to serve', path: '(none given)' })
  }
  await checkDirectories(directories)
  const collections = merged(collectionsOf(directories), added)
  return new CollectionSet({
    collections,
    workerUrl,
    limits: { ...LIMITS, ...limits },
    poll,
    code,
    log,
    ...(indexFile === undefined ? {} : { file: indexFile }),
    ...(extract === undefined ? {} : { extract }),
  })
}

function viewsOf(library: CollectionSet): (principal: KeyHolder) => CollectionView {
  return (principal) => viewOf(library, principal)
}

function refuseWeakKeys(keys: readonly string[]): void {
  for (const key of keys) {
    const reason = weaknessOf(key)
    if (reason !== undefined) fail('DOCS_KEY_WEAK', { source: 'the options', reason })
  }
}

function closeOnce(close: () => Promise<void>): () => Promise<void> {
  let closing: Promise<void> | undefined
  return () => (closing ??= close())
}
