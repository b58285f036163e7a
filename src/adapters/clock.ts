/** The machine's own time, chance and cancellation: the only place that asks for them. */
import { randomUUID } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import type { Clock } from '../ports/clock.ts'

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicNow: () => performance.now(),
  id: () => randomUUID(),
  abortSource: oneForMany,
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

/** All connections listen to one that ends the server, and all calls of a turn to that of the turn: Node takes more than ten for a leak and says so on stderr. */
function oneForMany(): AbortController {
  const source = new AbortController()
  // No number at all, zero, is what undici stumbles over when it asks for it.
  setMaxListeners(Number.POSITIVE_INFINITY, source.signal)
  return source
}
