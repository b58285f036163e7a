/** The index as the thread that writes it runs it. */
import type { MessagePort } from 'node:worker_threads'
import { Extractor } from '../extract/extractor.ts'
import { Indexer } from '../collect/indexer.ts'
import { openDatabase } from '../store/open.ts'
import type { FromIndexer, IndexOptions, ToIndexer } from './protocol.ts'

export interface IndexPlace {
  readonly port: MessagePort
  /** The bundle of `worker.ts`, for another thread. */
  readonly workerUrl: URL
}

export function keepIndex({ port, workerUrl }: IndexPlace, options: IndexOptions): void {
  const tell = (message: FromIndexer) => port.postMessage(message)
  const log = (line: string) => tell({ kind: 'log', line })
  const { database, file, temporary, release } = openDatabase(options.file, log)
  tell({ kind: 'opened', file, ...(temporary === undefined ? {} : { temporary }) })
  const extractor = new Extractor(workerUrl, options.extract)
  const indexer = new Indexer(
    { database, unpack: (kind, bytes) => extractor.extract({ kind, bytes }), options },
    {
      log,
      present: (names) => tell({ kind: 'present', names }),
      changed: (changes) => tell({ kind: 'changed', ...changes }),
      standing: (standing) => tell({ kind: 'standing', ...standing }),
    },
  )

  async function close(): Promise<void> {
    await Promise.all([indexer[Symbol.asyncDispose](), extractor[Symbol.asyncDispose]()])
    database[Symbol.dispose]()
    release()
    port.close()
  }

  port.on('message', (message: ToIndexer) => {
    if (message === 'close') void close()
    else indexer.setCollections(message.collections)
  })
}
