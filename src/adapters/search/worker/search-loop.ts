/** The loop of the search index's thread: it answers queries first, and follows the journal in small steps between them. */
import type { MessagePort } from 'node:worker_threads'
import type { Clock } from '../../../ports/clock.ts'
import { isParleyError, ParleyError, reasonOf } from '../../../errors/parley-error.ts'
import type { SessionId } from '../../../ports/journal.ts'
import type { IndexState, SearchAnswer, SearchRequest } from '../../../ports/search.ts'
import { type CallRefusal, answerCalls, sendEvent } from '../../../threads/worker-port.ts'
import type { Index } from '../store/search-index.ts'

/** An event of the thread is a sentence for the log. */
export interface SearchCalls {
  readonly changed: { readonly ask: readonly SessionId[]; readonly answer: undefined }
  readonly search: { readonly ask: SearchRequest; readonly answer: SearchAnswer }
  readonly inspect: { readonly ask: undefined; readonly answer: IndexState }
  readonly close: { readonly ask: undefined; readonly answer: undefined }
}

/** How long it works before it looks for queries, and how long it then leaves the processor to others. */
const SLICE_MS = 25
const PAUSE_MS = 15

export function serveSearch(port: MessagePort, index: Index, clock: Pick<Clock, 'setTimer'>): void {
  let isScheduled = false
  let isClosed = false

  function work(): void {
    isScheduled = false
    // Closing does not wait for what is left to do.
    if (isClosed) return
    try {
      if (index.work(SLICE_MS)) schedule(PAUSE_MS)
    } catch (error) {
      // It is tried again with the next change or query.
      sendEvent(port, `the search index does not follow: ${reasonOf(error)}`)
    }
  }

  function schedule(pauseMs = 0): void {
    if (!isScheduled) clock.setTimer(pauseMs, work)
    isScheduled = true
  }

  function note(sessions: readonly SessionId[]): void {
    try {
      index.changed(sessions)
    } catch {
      // An index that cannot be opened now compares all sessions when it can be.
    }
  }

  const handlers = {
    changed(sessions: readonly SessionId[]): undefined {
      note(sessions)
      schedule()
    },
    search: (request: SearchRequest) => index.search(request),
    inspect: () => index.inspect(),
    close(): undefined {
      isClosed = true
      index.close()
      port.close()
    },
  }
  answerCalls<SearchCalls>(port, handlers, { refusalOf })
}

function refusalOf(error: unknown): CallRefusal {
  const known = isParleyError(error) ? error : new ParleyError('SEARCH_UNAVAILABLE', { reason: reasonOf(error) })
  return { code: known.code, details: known.details }
}
