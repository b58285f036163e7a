/** The index as the answering thread runs it: requests in, answers and change events out. Another thread writes the index. */
import { rmSync } from 'node:fs'
import { isParleyError, ParleyError, reasonOf } from '../../../errors/parley-error.ts'
import { type CallRefusal, answerCalls, sendEvent } from '../../../threads/worker-port.ts'
import { WorkerThread } from '../../../threads/worker-thread.ts'
import { Extractor } from '../extract/extractor.ts'
import { QueryService } from '../query/query-service.ts'
import { IndexReader } from '../store/index-reader.ts'
import { IndexStatus } from '../store/index-status.ts'
import type { IndexPlace } from './indexing.ts'
import type { IndexCalls, IndexEvent, IndexOptions, WriterCalls, WriterEvent, WriterOptions } from './protocol.ts'

export function serveIndex({ port, workerUrl, watches }: IndexPlace, options: IndexOptions): void {
  const tell = (event: IndexEvent): void => sendEvent(port, event)
  const standing = new IndexStatus(options.limits)
  const extractor = new Extractor(workerUrl, options.extract)
  let setOpened: (reader: IndexReader) => void = () => {}
  const opened = new Promise<IndexReader>((resolve) => (setOpened = resolve))
  let isClosing = false

  function hear(event: WriterEvent): void {
    if (event.kind === 'opened') setOpened(openReader(event))
    else if (event.kind !== 'standing') tell(event)
    else if (standing.update(event)) tell({ kind: 'changed', updated: [], listChanged: true })
  }

  /** Without the writer the answers would become outdated, so this thread ends by that error too, and both are started again. */
  function writerEnded(reason: string): Error {
    const error = new Error(`the index has ended: ${reason}`)
    if (!isClosing) throw error
    return error
  }

  const writer = new WorkerThread<WriterCalls>(
    workerUrl,
    {
      workerData: { write: options, watches } satisfies WriterOptions,
      transferList: [watches],
      name: 'parley-index',
    },
    { event: (event) => hear(event as WriterEvent), ended: writerEnded },
  )
  const queries = opened.then(
    (lookup) => new QueryService({ lookup, standing, unpack: (kind, bytes) => extractor.extract({ kind, bytes }) }),
  )

  /** The last connection to close checkpoints the write-ahead log, which only the writer may do. */
  async function close(): Promise<undefined> {
    isClosing = true
    const lookup = await opened
    await extractor[Symbol.asyncDispose]()
    lookup[Symbol.dispose]()
    writer.notify('close', undefined)
    await writer.exited
    port.close()
  }

  answerCalls<IndexCalls>(
    port,
    {
      passages: async (request) => (await queries).passages(request),
      documents: async (request) => (await queries).documents(request),
      read: async (request) => (await queries).read(request),
      list: async (request) => (await queries).list(request),
      outline: async (request) => (await queries).outline(request),
      show: async (request) => (await queries).show(request),
      collections(collections) {
        writer.notify('collections', collections)
        return undefined
      },
      close,
    },
    { refusalOf: (error) => refusalOf(error, (line) => tell({ kind: 'log', line })) },
  )
}

function openReader({ file, temporary }: { readonly file: string; readonly temporary?: string }): IndexReader {
  const reader = new IndexReader(file)
  if (temporary !== undefined) rmSync(temporary, { recursive: true, force: true })
  return reader
}

function refusalOf(error: unknown, log: (line: string) => void): CallRefusal {
  if (isParleyError(error)) return { code: error.code, details: error.details }
  log(`The index failed: ${reasonOf(error)}`)
  const { code, details } = new ParleyError('DOCS_INDEX_UNAVAILABLE', { reason: reasonOf(error) })
  return { code, details }
}
