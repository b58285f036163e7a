/** The index as its thread runs it: messages in, answers and news out. */
import type { MessagePort } from 'node:worker_threads'
import type { ErrorCode } from '../../errors/catalogue.ts'
import { isParleyError, reasonOf } from '../../errors/parley-error.ts'
import { Extractor } from './extract/extractor.ts'
import { Indexer } from './indexer.ts'
import type { Unpack } from './load.ts'
import { openDatabase } from './open.ts'
import type {
  Call,
  DocumentIndex,
  FromWorker,
  IndexOptions,
  ListRequest,
  OutlineRequest,
  ReadRequest,
  SearchRequest,
  ShowRequest,
  ToWorker,
} from './protocol.ts'
import { Search } from './search.ts'

export interface IndexPlace {
  readonly port: MessagePort
  /** The bundle of `worker.ts`, for a second thread. */
  readonly workerUrl: URL
}

export function serveIndex({ port, workerUrl }: IndexPlace, options: IndexOptions): void {
  const tell = (message: FromWorker) => port.postMessage(message)
  const log = (line: string) => tell({ kind: 'log', line })
  const database = openDatabase(options.file, log)
  const extractor = new Extractor(workerUrl, options.extract)
  const unpack: Unpack = (kind, bytes) => extractor.extract({ kind, bytes })
  const indexer = new Indexer(
    { database, unpack, options },
    {
      log,
      present: (names) => tell({ kind: 'present', names }),
      changed: (changes) => tell({ kind: 'changed', ...changes }),
    },
  )
  const operations = operationsOf(new Search({ database, indexer, unpack }))

  async function answer(call: Call): Promise<void> {
    try {
      tell({ kind: 'answer', id: call.id, value: await operations[call.operation](call) })
    } catch (error) {
      tell({ kind: 'failure', id: call.id, ...described(error, log) })
    }
  }

  async function close(): Promise<void> {
    await Promise.all([indexer[Symbol.asyncDispose](), extractor[Symbol.asyncDispose]()])
    database[Symbol.dispose]()
    port.close()
  }

  port.on('message', (message: ToWorker) => {
    if (message === 'close') void close()
    else if ('collections' in message) indexer.setCollections(message.collections)
    else void answer(message)
  })
}

type Operations = { readonly [Name in keyof DocumentIndex]: (call: Call) => Promise<unknown> }

function operationsOf(search: Search): Operations {
  return {
    passages: ({ request }) => search.passages(request as SearchRequest),
    documents: ({ request }) => search.documents(request as SearchRequest),
    read: ({ request }) => search.read(request as ReadRequest),
    list: ({ request }) => search.list(request as ListRequest),
    outline: ({ request }) => search.outline(request as OutlineRequest),
    show: ({ request }) => search.show(request as ShowRequest),
  }
}

function described(
  error: unknown,
  log: (line: string) => void,
): { readonly code: ErrorCode; readonly details: object } {
  if (isParleyError(error)) return { code: error.code, details: error.details }
  log(`The index failed: ${reasonOf(error)}`)
  return { code: 'DOCS_INDEX_UNAVAILABLE', details: { reason: reasonOf(error) } }
}
