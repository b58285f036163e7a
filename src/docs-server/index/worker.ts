/** The thread that holds the index: looking through files and searching never delay an answer of the server. */
import { parentPort, workerData } from 'node:worker_threads'
import type { ErrorCode } from '../../errors/catalogue.ts'
import { isParleyError, reasonOf } from '../../errors/parley-error.ts'
import { Database } from './database.ts'
import { Indexer } from './indexer.ts'
import type {
  Call,
  DocumentIndex,
  FromWorker,
  IndexOptions,
  ListRequest,
  OutlineRequest,
  ReadRequest,
  SearchRequest,
  ToWorker,
} from './protocol.ts'
import { Search } from './search.ts'

const tell = (message: FromWorker) => parentPort?.postMessage(message)

const database = new Database()
const indexer = new Indexer(database, workerData as IndexOptions, {
  log: (line) => tell({ kind: 'log', line }),
  present: (names) => tell({ kind: 'present', names }),
  changed: (changes) => tell({ kind: 'changed', ...changes }),
})
const search = new Search(database, indexer)

const operations: { readonly [Name in keyof DocumentIndex]: (call: Call) => Promise<unknown> } = {
  passages: ({ request }) => search.passages(request as SearchRequest),
  documents: ({ request }) => search.documents(request as SearchRequest),
  read: ({ request }) => search.read(request as ReadRequest),
  list: ({ request }) => search.list(request as ListRequest),
  outline: ({ request }) => search.outline(request as OutlineRequest),
}

parentPort?.on('message', (message: ToWorker) => void receive(message))

function receive(message: ToWorker): Promise<void> | void {
  if (message === 'close') return close()
  if ('collections' in message) return indexer.setCollections(message.collections)
  return answer(message)
}

async function answer(call: Call): Promise<void> {
  try {
    tell({ kind: 'answer', id: call.id, value: await operations[call.operation](call) })
  } catch (error) {
    tell({ kind: 'failure', id: call.id, ...described(error) })
  }
}

function described(error: unknown): { readonly code: ErrorCode; readonly details: object } {
  if (isParleyError(error)) return { code: error.code, details: error.details }
  tell({ kind: 'log', line: `The index failed: ${reasonOf(error)}` })
  return { code: 'DOCS_INDEX_UNAVAILABLE', details: { reason: reasonOf(error) } }
}

async function close(): Promise<void> {
  await indexer[Symbol.asyncDispose]()
  database[Symbol.dispose]()
  parentPort?.close()
}
