/** The loop of the index's thread: questions first, and the journal followed in small steps between them. */
import type { MessagePort } from 'node:worker_threads'
import type { Clock } from '../../../ports/clock.ts'
import { isParleyError, ParleyError, reasonOf } from '../../../errors/parley-error.ts'
import type { IndexState, SearchAnswer } from '../../../ports/search.ts'
import type { Index } from '../store/search-index.ts'
import type { News, Order } from './messages.ts'

/** How long it works before it looks for questions, and how long it then leaves the processor to others. Milliseconds. */
const SLICE = 25
const REST = 15

export function serve(port: MessagePort, index: Index, clock: Pick<Clock, 'setTimer'>): void {
  let working = false
  let closed = false

  function tell(news: News): void {
    port.postMessage(news)
  }

  function work(): void {
    working = false
    // However much is left to do: whoever stops does not wait for it.
    if (closed) return
    try {
      if (index.work(SLICE)) goOn(REST)
    } catch (error) {
      // It is tried again with the next change, or when somebody asks.
      tell({ kind: 'report', sentence: `the search index does not follow: ${reasonOf(error)}` })
    }
  }

  function goOn(rest = 0): void {
    if (!working) clock.setTimer(rest, work)
    working = true
  }

  port.on('message', (order: Order) => {
    switch (order.kind) {
      case 'changed':
        note(order.sessions)
        return goOn()
      case 'search':
        return tell(answer(order.call, () => index.search(order.request)))
      case 'inspect':
        return tell(answer(order.call, () => index.inspect()))
      case 'close':
        closed = true
        index.close()
        return port.close()
    }
  })

  function note(sessions: readonly string[]): void {
    try {
      index.changed(sessions)
    } catch {
      // An index that cannot be opened now compares everything when it can be.
    }
  }
}

function answer(call: number, asked: () => SearchAnswer | IndexState): News {
  try {
    return { kind: 'answer', call, answer: asked() }
  } catch (error) {
    const known = isParleyError(error) ? error : new ParleyError('SEARCH_UNAVAILABLE', { reason: reasonOf(error) })
    return { kind: 'refusal', call, code: known.code, details: known.details }
  }
}
