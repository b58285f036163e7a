/** The index as the answering thread runs it: requests in, answers and change events out. Another thread writes the index. */
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import type { ErrorCode } from '../../../errors/catalogue.ts'
import { isParleyError, reasonOf } from '../../../errors/parley-error.ts'
import { Extractor } from '../extract/extractor.ts'
import type { IndexPlace } from './indexing.ts'
import { IndexReader } from '../store/index-reader.ts'
import type {
  Call,
  DocumentIndex,
  FromIndexer,
  FromWorker,
  IndexOptions,
  ListRequest,
  OutlineRequest,
  ReadRequest,
  SearchRequest,
  ShowRequest,
  ToIndexer,
  ToWorker,
  WriterOptions,
} from './protocol.ts'
import { QueryService } from '../query/query-service.ts'
import { IndexStatus } from '../store/index-status.ts'

export function serveIndex({ port, workerUrl }: IndexPlace, options: IndexOptions): void {
  const tell = (message: FromWorker) => port.postMessage(message)
  const log = (line: string) => tell({ kind: 'log', line })
  const writer = new Worker(workerUrl, { workerData: { write: options } satisfies WriterOptions, name: 'parley-index' })
  const order = (message: ToIndexer) => writer.postMessage(message)
  const standing = new IndexStatus(options.limits)
  const extractor = new Extractor(workerUrl, options.extract)
  const opened = new Promise<IndexReader>((resolve) => {
    writer.on('message', (message: FromIndexer) => {
      if (message.kind === 'opened') resolve(openLookup(message))
      else if (message.kind !== 'standing') tell(message)
      else if (standing.update(message)) tell({ kind: 'changed', updated: [], listChanged: true })
    })
  })
  const operations = opened.then((lookup) =>
    operationsOf(new QueryService({ lookup, standing, unpack: (kind, bytes) => extractor.extract({ kind, bytes }) })),
  )

  async function answer(call: Call): Promise<void> {
    try {
      tell({ kind: 'answer', id: call.id, value: await (await operations)[call.operation](call) })
    } catch (error) {
      tell({ kind: 'failure', id: call.id, ...described(error, log) })
    }
  }

  /** The last connection to close checkpoints the write-ahead log, which only the writer may do. */
  async function close(): Promise<void> {
    writer.off('exit', lost)
    const lookup = await opened
    await extractor[Symbol.asyncDispose]()
    lookup[Symbol.dispose]()
    const ended = once(writer, 'exit')
    order('close')
    await ended
    port.close()
  }

  // Without the writer the answers would become outdated, so this thread ends too, and both are started again.
  writer.on('error', (error) => {
    throw error
  })
  writer.on('exit', lost)
  port.on('message', (message: ToWorker) => {
    if (message === 'close') void close()
    else if ('collections' in message) order(message)
    else void answer(message)
  })
}

function lost(): void {
  throw new Error('the index has ended')
}

function openLookup({ file, temporary }: { readonly file: string; readonly temporary?: string }): IndexReader {
  const lookup = new IndexReader(file)
  if (temporary !== undefined) rmSync(temporary, { recursive: true, force: true })
  return lookup
}

type Operations = { readonly [Name in keyof DocumentIndex]: (call: Call) => Promise<unknown> }

function operationsOf(search: QueryService): Operations {
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
