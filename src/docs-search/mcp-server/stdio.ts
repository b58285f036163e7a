/** `parley docs --stdio`: the same server over stdin and stdout, for hosts that start their servers themselves. */
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { merged } from '../collections/state.ts'
import { type Collection, collectionsOf } from '../index/collections.ts'
import { type ClientServer, documentServer } from './mcp.ts'
import { type CollectionSettings, openCollections } from '../server.ts'
import { viewOf } from '../collections/view.ts'

export interface StdioOptions extends CollectionSettings {
  readonly input: Readable
  readonly output: Writable
}

export interface StdioDocs extends AsyncDisposable {
  /** Settles when the host closes our input. */
  readonly ended: Promise<void>
  setAdded(collections: readonly Collection[]): void
}

/** The program that started this process needs no key: it could read the files itself. */
const OWNER = { id: 'stdio', name: 'stdio', collections: 'all' } as const

/** Throws DIRECTORY_MISSING. */
export async function openStdioDocs(options: StdioOptions): Promise<StdioDocs> {
  const { input, output, name, version, log } = options
  const library = await openCollections(options)
  // The SDK makes one server to be asked what it speaks, and may replace it by another when it knows what the host speaks.
  const clients = new Set<ClientServer>()
  const handle = serveStdio(
    ({ era }) => {
      const client = documentServer({ about: { name, version }, view: viewOf(library, OWNER), log }, era)
      clients.add(client)
      client.server.onclose = () => clients.delete(client)
      return client.server
    },
    {
      transport: new StdioServerTransport(input, output),
      onerror: (error) => log(`A message failed: ${error.message}`),
    },
  )
  library.listen((change) => {
    for (const client of clients)
      client.notify(change).catch((error: unknown) => log(`Notifying the host failed: ${String(error)}`))
  })
  return {
    ended: once(input, 'end').then(() => undefined),
    setAdded: (added) => library.setCollections(merged(collectionsOf(options.directories), added)),
    async [Symbol.asyncDispose]() {
      await handle.close()
      await library[Symbol.asyncDispose]()
    },
  }
}
