/** The work of the thread that writes the index. */
import type { MessagePort } from 'node:worker_threads'
import { answerCalls, sendEvent } from '../../../threads/worker-port.ts'
import { Extractor } from '../extract/extractor.ts'
import { Indexer } from '../collect/indexer.ts'
import { watchThrough } from '../collect/watch.ts'
import type { Collection } from '../collections.ts'
import { openIndexDatabase } from '../store/open.ts'
import type { IndexOptions, WriterCalls, WriterEvent } from './protocol.ts'

export interface IndexPlace {
  readonly port: MessagePort
  /** The bundle of `worker.ts`, for another thread. */
  readonly workerUrl: URL
  /** Leads to the owner of the index, which watches directories for the thread that writes it. */
  readonly watches: MessagePort
}

export function keepIndex({ port, workerUrl, watches }: IndexPlace, options: IndexOptions): void {
  const tell = (event: WriterEvent) => sendEvent(port, event)
  const log = (line: string) => tell({ kind: 'log', line })
  const { database, file, temporary, release } = openIndexDatabase(options.file, log)
  tell({ kind: 'opened', file, ...(temporary === undefined ? {} : { temporary }) })
  const extractor = new Extractor(workerUrl, options.extract)
  const indexer = new Indexer(
    {
      database,
      unpack: (kind, bytes) => extractor.extract({ kind, bytes }),
      watch: watchThrough(watches),
      options,
    },
    {
      log,
      present: (names) => tell({ kind: 'present', names }),
      changed: (changes) => tell({ kind: 'changed', ...changes }),
      standing: (standing) => tell({ kind: 'standing', ...standing }),
    },
  )

  async function close(): Promise<undefined> {
    await Promise.all([indexer[Symbol.asyncDispose](), extractor[Symbol.asyncDispose]()])
    database[Symbol.dispose]()
    release()
    port.close()
  }

  function setCollections(collections: readonly Collection[]): undefined {
    indexer.setCollections(collections)
  }

  answerCalls<WriterCalls>(port, { collections: setCollections, close })
}
