/** The journal of a cluster as the thread of the search index reads it: another thread asks the databases, and this one waits for it. */
import { fail } from '../../../errors/parley-error.ts'
import type { JournalSource } from '../../../ports/search.ts'
import { BlockingWorker } from '../../../threads/blocking-worker.ts'
import type { AnswerTo, AskOf } from '../../../threads/worker-port.ts'
import { workerUrl } from '../../compose/workers.ts'
import type { ReaderCalls, ReaderOrder } from './reader-calls.ts'

/** Longer than a list of very many sessions takes. A search that waits so long for a database that is away is refused. */
const TIMEOUT_MS = 10_000
/** It holds the rows of all sessions for a moment. */
const HEAP_MB = 512

export function openClusterSource(order: ReaderOrder): JournalSource {
  let reader: BlockingWorker<ReaderCalls> | undefined

  function call<Kind extends keyof ReaderCalls>(
    kind: Kind,
    ask: AskOf<ReaderCalls, Kind>,
  ): AnswerTo<ReaderCalls, Kind> {
    reader ??= new BlockingWorker(
      workerUrl('cluster-reader'),
      { order },
      { timeoutMs: TIMEOUT_MS, name: 'parley search reader', resourceLimits: { maxOldGenerationSizeMb: HEAP_MB } },
    )
    const answered = reader.call(kind, ask)
    if (answered !== undefined) return answered.answer
    // It hangs, or has ended. The next call begins with another one.
    reader.close()
    reader = undefined
    return fail('SEARCH_UNAVAILABLE', { reason: 'the databases of the cluster do not answer' })
  }

  return {
    heads: () => call('heads', 'all'),
    recent: () => call('heads', 'recent'),
    head: (id) => call('head', id),
    page: (id, from, limits) => call('page', { id, from, limits }),
    close: () => reader?.close(),
  }
}
