/** The thread that reads the databases of a cluster for the thread of the search index, which waits for each answer. */
import { workerData } from 'node:worker_threads'
import { systemClock } from '../../../adapters/clock.ts'
import { type IndexSource, openIndexSource } from '../../../adapters/journal/postgres/index-source.ts'
import { ParleyError, isParleyError, reasonOf } from '../../../errors/parley-error.ts'
import { type BlockingEnd, answerBlocking } from '../../../threads/blocking-worker.ts'
import type { CallRefusal } from '../../../threads/worker-port.ts'
import type { ReaderCalls, ReaderOrder } from './reader-calls.ts'

interface ReaderWorkerData {
  readonly order: ReaderOrder
  readonly end: BlockingEnd
}

const { order, end } = workerData as ReaderWorkerData
let opening: Promise<IndexSource> | undefined

answerBlocking<ReaderCalls>(
  end,
  {
    heads: async (which) => (await opened()).heads(which),
    head: async (id) => (await opened()).head(id),
    page: async ({ id, from, limits }) => (await opened()).page(id, from, limits),
  },
  refusalOf,
)

/** Tried again with the next call when it fails. */
function opened(): Promise<IndexSource> {
  opening ??= openIndexSource({ ...order, boot: systemClock.id(), clock: systemClock }).catch((error: unknown) => {
    opening = undefined
    throw error
  })
  return opening
}

function refusalOf(error: unknown): CallRefusal {
  const known = isParleyError(error) ? error : new ParleyError('SEARCH_UNAVAILABLE', { reason: reasonOf(error) })
  return { code: known.code, details: known.details }
}
