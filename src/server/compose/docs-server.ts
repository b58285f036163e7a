/** Composes the document server of a command: its keys, its collections, its index worker, its name. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import type { Config } from '../../config/settings.ts'
import { type LoadedKey, loadKey } from '../../docs-search/keys/keys.ts'
import type { IndexLimits } from '../../docs-search/index/worker/protocol.ts'
import { type DocsServer, type CollectionSettings, openDocsServer } from '../../docs-search/server.ts'
import {
  addedCollections,
  collectionRecords,
  indexFileFor,
  keyRecords,
  knownKeys,
} from '../../docs-search/collections/state.ts'
import { openStdioDocs, type StdioDocs } from '../../docs-search/mcp-server/stdio.ts'
import { fail, reasonOf } from '../../errors/parley-error.ts'
import { serverInfo } from '../server-info.ts'
import { workerUrl } from './workers.ts'

export interface DocsRequest {
  /** Absolute. */
  readonly directories: readonly string[]
  readonly log: (line: string) => void
}

export interface HttpDocsRequest extends DocsRequest {
  readonly key: string
  readonly host: string
  /** 0: a free one. */
  readonly port: number
  readonly tls?: { readonly certFile: string; readonly keyFile: string }
  readonly insecureHttp: boolean
  readonly allowQueryKey?: boolean
  /** Further names by which requests may call this host. */
  readonly allowedHosts?: readonly string[]
}

/** Larger than the limits of a session, because a document server is started on purpose. */
const LIMITS: IndexLimits = { files: 200_000, bytes: 4_000_000_000 }

/** The key that is set, that a file holds, or that is made now. Throws DOCS_KEY_WEAK or DOCS_KEY_FILE. */
export function docsKey(
  config: Config,
  { host, file }: { readonly host: string; readonly file: string | undefined },
): Promise<LoadedKey> {
  const loopback = host === 'localhost' || host === '::1' || host.startsWith('127.')
  // A file that was named on the command line is nearer than the environment.
  const env = file === undefined ? config.docsKey : undefined
  return loadKey({ env, file: file ?? join(config.home, 'docs.key'), loopback })
}

/** Serves over HTTP; follows the keys and collections of the state directory for as long as it runs. */
export async function openDocs({ home }: Config, request: HttpDocsRequest): Promise<DocsServer> {
  const { key, tls, ...rest } = request
  const [collections, keys] = [collectionRecords(home), keyRecords(home)]
  const server = await openDocsServer({
    ...rest,
    ...(await settings(home, request)),
    keys: [key],
    added: addedCollections(await collections.all()),
    namedKeys: knownKeys(await keys.all()),
    ...(tls === undefined ? {} : { tls: { cert: await pem(tls.certFile), key: await pem(tls.keyFile) } }),
  })
  const stops = [
    collections.watch((records) => server.setAdded(addedCollections(records))),
    keys.watch((records) => void server.setKeys(knownKeys(records))),
  ]
  const close = () => {
    for (const stop of stops) stop()
    return server.close()
  }
  return { ...server, close, [Symbol.asyncDispose]: close }
}

/** Serves the host that started us; follows the collections of the state directory for as long as it runs. */
export async function openDocsOverStdio(
  { home }: Config,
  request: DocsRequest & { readonly input: Readable; readonly output: Writable },
): Promise<StdioDocs> {
  const collections = collectionRecords(home)
  const docs = await openStdioDocs({
    ...request,
    ...(await settings(home, request)),
    added: addedCollections(await collections.all()),
  })
  const stop = collections.watch((records) => docs.setAdded(addedCollections(records)))
  return {
    ...docs,
    [Symbol.asyncDispose]() {
      stop()
      return docs[Symbol.asyncDispose]()
    },
  }
}

async function settings(home: string, { directories }: DocsRequest): Promise<Settings> {
  const { name, version } = serverInfo
  const indexFile = await indexFileFor(home, directories)
  return { name: `${name}-docs`, version, workerUrl: workerUrl('docs-worker'), limits: LIMITS, code: true, indexFile }
}

type Settings = Pick<CollectionSettings, 'name' | 'version' | 'workerUrl' | 'limits' | 'code' | 'indexFile'>

async function pem(path: string): Promise<Buffer> {
  return readFile(path).catch((error: unknown) => fail('DOCS_TLS', { reason: reasonOf(error) }, error))
}
