/**
 * Runs the checks that a stranger's schema or pattern could make endless in threads with a limit of time and memory. At most
 * one job of each source runs at a time, in turns, so that one bad MCP server cannot keep the checks of the others waiting.
 */
import { Worker } from 'node:worker_threads'
import type { Clock } from '../../ports/clock.ts'
import type { Signal } from '../../ports/signal.ts'
import type { LinesJob, FoundLine, Posted, SchemaAnswer, SchemaJob } from './messages.ts'

/** Whoever hands in jobs: an MCP connection, a search. Compared by identity. */
type JobSource = object

interface CheckerOptions {
  readonly workerUrl: URL
  readonly clock: Clock
  readonly limits?: Partial<CheckerLimits>
}

export interface CheckerLimits {
  readonly threads: number
  /** For one job, once a thread has begun it. */
  readonly jobMs: number
  /** For one job, from when it was handed in. */
  readonly waitMs: number
  /** A thread without work for so long is ended: its libraries take memory. */
  readonly idleMs: number
  readonly heapMegabytes: number
}

const LIMITS: CheckerLimits = { threads: 2, jobMs: 3_000, waitMs: 15_000, idleMs: 60_000, heapMegabytes: 256 }
/** A thread keeps each schema that it has compiled; after so many it is replaced. */
const MOST_SCHEMAS = 500

/** The job took more time or memory than a check may take. */
export class CheckTooLong extends Error {
  /** False when only the jobs of others kept it waiting. */
  readonly isOwnFault: boolean

  constructor(isOwnFault: boolean) {
    super(isOwnFault ? 'it takes too much time or memory' : 'too many other checks were waiting')
    this.isOwnFault = isOwnFault
  }
}

interface Waiting {
  readonly job: SchemaJob | LinesJob
  readonly source: JobSource
  resolve(answer: Posted): void
  reject(error: Error): void
}

export class Checker {
  readonly #options: CheckerOptions
  readonly #limits: CheckerLimits
  readonly #threads = new Set<Thread>()
  readonly #busy = new Set<JobSource>()
  /** In the order of their turns: a source whose job was taken goes to the end. */
  #waiting: Waiting[] = []
  #closed = false

  constructor(options: CheckerOptions) {
    this.#options = options
    this.#limits = { ...LIMITS, ...options.limits }
  }

  /** Rejects with CheckTooLong, with what the thread threw, or when the signal aborts. */
  async checkSchema(job: Omit<SchemaJob, 'kind'>, source: JobSource): Promise<SchemaAnswer> {
    return (await this.#run({ kind: 'schema', ...job }, source)) as SchemaAnswer
  }

  async findLines(job: Omit<LinesJob, 'kind'>, source: JobSource, signal: Signal): Promise<readonly FoundLine[]> {
    return (await this.#run({ kind: 'lines', ...job }, source, signal)) as readonly FoundLine[]
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const waiting of this.#waiting.splice(0)) waiting.reject(new Error('the server is stopping'))
    await Promise.all([...this.#threads].map((thread) => thread.end()))
  }

  #run(job: Waiting['job'], source: JobSource, signal?: Signal): Promise<Posted> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        timer.cancel()
        signal?.removeEventListener('abort', cancel)
        this.#waiting = this.#waiting.filter((one) => one !== waiting)
      }
      const waiting: Waiting = {
        job,
        source,
        resolve: (answer) => (leave(), resolve(answer)),
        reject: (error) => (leave(), reject(error)),
      }
      const cancel = (): void => waiting.reject(new Error('cancelled'))
      const timer = this.#options.clock.setTimer(this.#limits.waitMs, () => waiting.reject(new CheckTooLong(false)))
      if (this.#closed || signal?.aborted === true) return cancel()
      signal?.addEventListener('abort', cancel, { once: true })
      this.#waiting.push(waiting)
      this.#next()
    })
  }

  /** Gives the next job whose source has none running to a free thread, and starts a thread where one is missing. */
  #next(): void {
    const next = this.#waiting.find(({ source }) => !this.#busy.has(source))
    if (next === undefined) return
    const thread = [...this.#threads].find(({ isFree }) => isFree) ?? this.#start()
    if (thread === undefined) return
    this.#waiting = this.#waiting.filter((one) => one !== next)
    this.#busy.add(next.source)
    void this.#settle(thread, next)
    this.#next()
  }

  async #settle(thread: Thread, waiting: Waiting): Promise<void> {
    try {
      waiting.resolve(await thread.run(waiting.job))
    } catch (error) {
      this.#threads.delete(thread)
      await thread.end()
      waiting.reject(error instanceof Error ? error : new Error('the thread has ended'))
    }
    this.#busy.delete(waiting.source)
    if (!this.#closed) this.#next()
  }

  #start(): Thread | undefined {
    if (this.#threads.size >= this.#limits.threads) return undefined
    const thread = new Thread(this.#options, this.#limits, () => this.#ended(thread))
    this.#threads.add(thread)
    return thread
  }

  /** A thread that is replaced makes room as well, and perhaps no other job runs whose end would start the next one. */
  #ended(thread: Thread): void {
    this.#threads.delete(thread)
    if (!this.#closed) this.#next()
  }
}

/** One thread and the job that it has. */
class Thread {
  readonly #worker: Worker
  readonly #clock: Clock
  readonly #limits: CheckerLimits
  readonly #onEnd: () => void
  readonly #schemas = new Set<number>()
  readonly #ready: Promise<void>
  #answered: ((posted: Posted) => void) | undefined
  #failed: (error: Error) => void = () => undefined
  #idle: ReturnType<Clock['setTimer']> | undefined
  #isFree = true

  constructor({ workerUrl, clock }: CheckerOptions, limits: CheckerLimits, onEnd: () => void) {
    const resourceLimits = { maxOldGenerationSizeMb: limits.heapMegabytes, maxYoungGenerationSizeMb: 32 }
    this.#worker = new Worker(workerUrl, { resourceLimits, name: 'parley-check', execArgv: [] })
    this.#clock = clock
    this.#limits = limits
    this.#onEnd = onEnd
    this.#ready = new Promise((resolve) => this.#worker.once('message', () => resolve()))
    this.#worker.on('message', (posted: Posted) => this.#answered?.(posted))
    this.#worker.on('error', (error: NodeJS.ErrnoException) =>
      this.#failed(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? new CheckTooLong(true) : error),
    )
    this.#worker.on('exit', () => {
      this.#failed(new Error('the thread has ended'))
      // Without work it fails nothing, and must get none.
      if (this.#isFree) void this.end()
    })
  }

  get isFree(): boolean {
    return this.#isFree
  }

  /** The thread is of no more use when this rejects. */
  async run(job: SchemaJob | LinesJob): Promise<Posted> {
    this.#isFree = false
    this.#idle?.cancel()
    this.#worker.ref()
    const answer = await this.#answer(job)
    this.#worker.unref()
    this.#isFree = this.#schemas.size < MOST_SCHEMAS
    this.#idle = this.#clock.setTimer(this.#isFree ? this.#limits.idleMs : 0, () => void this.end())
    return answer
  }

  async end(): Promise<void> {
    this.#isFree = false
    this.#idle?.cancel()
    this.#onEnd()
    await this.#worker.terminate()
  }

  #answer(job: SchemaJob | LinesJob): Promise<Posted> {
    return new Promise((resolve, reject) => {
      let timer: ReturnType<Clock['setTimer']> | undefined
      const over = (): void => {
        timer?.cancel()
        this.#answered = undefined
        this.#failed = () => undefined
      }
      this.#failed = (error) => (over(), reject(error))
      // To start takes time on a busy machine, which says nothing about the job.
      const begin = (): void => {
        timer = this.#clock.setTimer(this.#limits.jobMs, () => this.#failed(new CheckTooLong(true)))
        this.#answered = (posted) => (over(), resolve(posted))
        this.#worker.postMessage(this.#withSchema(job))
      }
      // A value that cannot be copied throws.
      this.#ready.then(begin).catch((error: Error) => this.#failed(error))
    })
  }

  #withSchema(job: SchemaJob | LinesJob): SchemaJob | LinesJob {
    if (job.kind !== 'schema') return job
    const isKnown = this.#schemas.has(job.key)
    this.#schemas.add(job.key)
    return isKnown ? { ...job, schema: undefined } : job
  }
}
