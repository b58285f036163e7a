/** The document-search server as a command runs it: its key, its index worker, its name. */
import { join } from 'node:path'
import type { Config } from '../config/schema.ts'
import { type LoadedKey, loadKey } from '../docs-server/keys.ts'
import { type DocsServer, openDocsServer } from '../docs-server/server.ts'
import { serverInfo } from './version.ts'
import { workerUrl } from './workers.ts'

export interface DocsRequest {
  /** Absolute. */
  readonly directories: readonly string[]
  readonly key: string
  readonly host: string
  /** 0: a free one. */
  readonly port: number
  readonly allowQueryKey?: boolean
  /** Further names by which requests may call this host. */
  readonly allowedHosts?: readonly string[]
  readonly log: (line: string) => void
}

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

export function openDocs({ key, ...rest }: DocsRequest): Promise<DocsServer> {
  const { name, version } = serverInfo
  return openDocsServer({ ...rest, keys: [key], name: `${name}-docs`, version, workerUrl: workerUrl('docs-worker') })
}
