/**
 * A thread that is started before it is known what it shall do (`bin/server-start.mjs`). It gets as its first message what any other
 * thread finds in its `workerData`.
 */
import { type MessagePort, Worker, type WorkerOptions, workerData } from 'node:worker_threads'

/** As its starter hands it over: it does not keep its process running yet. */
export interface EarlyWorker {
  readonly url: URL
  readonly worker: Worker
  /** Whether it has failed before it was taken. */
  readonly hasEnded: boolean
}

let offered: EarlyWorker | undefined

export function offerWorker(early: EarlyWorker | undefined): void {
  offered = early
}

/** Starts a thread, or takes the one that was offered. Flags of this process, such as those of a debugger, are not passed on. */
export function startWorker(url: URL, options: WorkerOptions): Worker {
  const early = takeWorker(url)
  if (early === undefined) return new Worker(url, { execArgv: [], ...options })
  early.ref()
  early.postMessage(options.workerData, options.transferList ?? [])
  return early
}

/** Ends the thread of `url` that was offered, where nothing needs it. */
export function endOfferedWorker(url: URL): void {
  void takeWorker(url)?.terminate()
}

function takeWorker(url: URL): Worker | undefined {
  if (offered?.url.href !== url.href) return undefined
  const { worker, hasEnded } = offered
  offered = undefined
  // Another one says why.
  return hasEnded ? undefined : worker
}

/** In the thread: calls `run` with its data. */
export function whenOrdered(port: MessagePort, run: (order: never) => void): void {
  if (workerData === undefined || workerData === null) port.once('message', (order) => run(order as never))
  else run(workerData as never)
}
