/** The system clock: the only place that reads time, creates timers and random ids. */
import { randomUUID } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import type { Clock } from '../ports/clock.ts'

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicNow: () => performance.now(),
  id: () => randomUUID(),
  abortSource: abortSource,
  nextTick: () => new Promise((resolve) => setImmediate(resolve)),
  setTimer(ms, run) {
    const timer = setTimeout(run, ms)
    timer.unref()
    return { cancel: () => clearTimeout(timer) }
  },
  sleep(ms, signal) {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason)
      const abort = () => {
        clearTimeout(timer)
        reject(signal?.reason)
      }
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', abort)
        resolve()
      }, ms)
      signal?.addEventListener('abort', abort, { once: true })
    })
  },
}

/** All connections listen to the signal that ends the server, all calls of a turn to that of the turn. Node would warn of a leak after ten. */
function abortSource(): AbortController {
  const source = new AbortController()
  // Infinity instead of 0, which undici does not handle.
  setMaxListeners(Number.POSITIVE_INFINITY, source.signal)
  return source
}
