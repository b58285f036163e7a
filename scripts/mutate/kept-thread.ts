/**
 * One thread for the tests of many mutants. Vitest ends its thread with each run; to start one and load the modules again takes
 * ten times as long as the tests of a mutant do, and a mutant is switched on in modules that are already loaded.
 */
import type { Plugin } from 'vitest/config'
import { ThreadsPoolWorker, type PoolOptions, type PoolWorker, type WorkerRequest } from 'vitest/node'

/** What a mutant has left behind, such as an open session, may disturb those after it, but not for long. */
const RUNS_PER_THREAD = 50

type Listener = (message: unknown) => void

let kept: { readonly thread: ThreadsPoolWorker; runs: number } | undefined

/** Stryker asks for the pool `threads`, which this replaces. */
export const keptThread: Plugin = {
  name: 'kept-thread',
  configureVitest({ project }) {
    project.config.pool = 'kept-thread'
    project.config.poolRunner = { name: 'kept-thread', createPoolWorker: (options) => new KeptThread(options) }
  },
}

/** What one run of Vitest sees as its own thread. */
class KeptThread implements PoolWorker {
  readonly name = 'kept-thread'
  readonly #options: PoolOptions
  readonly #listeners: [event: string, listener: Listener][] = []
  #isAtRest = false

  constructor(options: PoolOptions) {
    this.#options = options
  }

  async start(): Promise<void> {
    if (kept !== undefined) return
    const thread = new ThreadsPoolWorker(this.#options)
    await thread.start()
    kept = { thread, runs: 0 }
  }

  on(event: string, listener: Listener): void {
    this.#listeners.push([event, listener])
    kept?.thread.on(event, listener)
  }

  off(event: string, listener: Listener): void {
    kept?.thread.off(event, listener)
  }

  send(message: WorkerRequest): void {
    if (kept === undefined) return
    switch (message.type) {
      case 'start':
        if (kept.runs > 0) return this.#answer('started')
        break
      case 'run': {
        kept.runs += 1
        // A thread has the settings of its first run, and each run names its tests in them.
        const context = { ...message.context, config: this.#options.project.serializedConfig }
        return kept.thread.send({ ...message, context })
      }
      case 'stop':
        this.#isAtRest = true
        return this.#answer('stopped')
      default:
    }
    kept.thread.send(message)
  }

  /** A thread that Vitest ends by force, as after a failure of its own, is not used again. */
  async stop(): Promise<void> {
    if (kept === undefined) return
    const { thread, runs } = kept
    for (const [event, listener] of this.#listeners) thread.off(event, listener)
    if (this.#isAtRest && runs < RUNS_PER_THREAD) return
    kept = undefined
    await thread.stop()
  }

  deserialize(data: unknown): unknown {
    return data
  }

  #answer(type: 'started' | 'stopped'): void {
    const answer = { type, __vitest_worker_response__: true }
    queueMicrotask(() => this.#listeners.filter(([event]) => event === 'message').forEach(([, hear]) => hear(answer)))
  }
}
