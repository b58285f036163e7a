/** Waiting for an AbortSignal, without a listener left behind on a signal that outlives the wait. */
import type { Signal } from '../ports/values/signal.ts'

/** Calls `run` once, as soon as the signal aborts; at once if it already has. Returns a function that stops listening. */
export function onAbort(signal: Signal, run: () => void): () => void {
  if (signal.aborted) {
    run()
    return () => undefined
  }
  signal.addEventListener('abort', run, { once: true })
  return () => signal.removeEventListener('abort', run)
}

/** Settles as `work` does, or rejects with `reason()` as soon as the signal aborts. The work itself is not stopped. */
export async function unlessAborted<Result>(
  work: Promise<Result>,
  signal: Signal,
  reason: () => unknown,
): Promise<Result> {
  let stopListening = (): void => undefined
  const aborted = new Promise<never>((_resolve, reject) => {
    stopListening = onAbort(signal, () => reject(reason()))
  })
  try {
    return await Promise.race([aborted, work])
  } finally {
    stopListening()
  }
}
