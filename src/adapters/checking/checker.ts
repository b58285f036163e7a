/**
 * Checks values against schemas, and text against patterns, in threads with a limit of time and memory: a hostile schema or pattern
 * could run forever. At most one job of each source runs at a time, so that one MCP server cannot delay the checks of others.
 */
import { waitAtMost } from '../../async/with-timeout.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Signal } from '../../ports/values/signal.ts'
import { WorkerThread } from '../../threads/worker-thread.ts'
import type { CheckCalls, Checked, LinesJob, FoundLine, SchemaAnswer, SchemaJob } from './messages.ts'

/** The source of jobs: an MCP connection, a search. Compared by identity. */
type JobSource = object

interface CheckerOptions {
  readonly workerUrl: URL
  readonly clock: Clock
  readonly limits?: Partial<CheckerLimits>
}

export interface CheckerLimits {
  readonly threads: number
  /** For one job, from its start. */
  readonly jobMs: number
  /** For one job, from its request. */
  readonly waitMs: number
  /** After which a thread without work is ended, to free its memory. */
  readonly idleMs: number
  readonly heapMegabytes: number
}

const LIMITS: CheckerLimits = { threads: 2, jobMs: 3_000, waitMs: 15_000, idleMs: 60_000, heapMegabytes: 256 }
/** A thread keeps each compiled schema; after so many it is replaced. */
const MAX_SCHEMAS = 500

/** A check exceeded its limit of time or memory. */
export class CheckTooLong extends Error {
  /** False when it only waited for the jobs of others. */
  readonly isOwnFault: boolean

  constructor(isOwnFault: boolean) {
    super(isOwnFault ? 'it takes too much time or memory' : 'too many other checks were waiting')
    this.isOwnFault = isOwnFault
  }
}

interface QueuedJob {
  readonly job: SchemaJob | LinesJob
  readonly source: JobSource
  resolve(answer: Checked): void
  reject(error: Error): void
}

export class Checker {
  readonly #options: CheckerOptions
  readonly #limits: CheckerLimits
  readonly #threads = new Set<Thread>()
  readonly #busy = new Set<JobSource>()
  /** In the order of their requests. */
  #waiting: QueuedJob[] = []
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

  #run(job: QueuedJob['job'], source: JobSource, signal?: Signal): Promise<Checked> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        timer.cancel()
        signal?.removeEventListener('abort', cancel)
        this.#waiting = this.#waiting.filter((one) => one !== waiting)
      }
      const waiting: QueuedJob = {
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

  /** Gives the next job whose source has none running to a free thread; starts a thread if there is none. */
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

  async #settle(thread: Thread, waiting: QueuedJob): Promise<void> {
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

  /** A thread that is replaced makes room too: the next job must start even if no other job ends. */
  #ended(thread: Thread): void {
    this.#threads.delete(thread)
    if (!this.#closed) this.#next()
  }
}

/** One thread and its current job. */
class Thread {
  readonly #thread: WorkerThread<CheckCalls>
  readonly #clock: Clock
  readonly #limits: CheckerLimits
  readonly #onEnd: () => void
  readonly #schemas = new Set<number>()
  /** Rejects when the thread ends before it is ready. */
  readonly #ready: Promise<void>
  #starting: { resolve(): void; reject(error: Error): void } = { resolve: () => {}, reject: () => {} }
  #idleTimer: ReturnType<Clock['setTimer']> | undefined
  #isFree = true

  constructor({ workerUrl, clock }: CheckerOptions, limits: CheckerLimits, onEnd: () => void) {
    const resourceLimits = { maxOldGenerationSizeMb: limits.heapMegabytes, maxYoungGenerationSizeMb: 32 }
    this.#clock = clock
    this.#limits = limits
    this.#onEnd = onEnd
    this.#ready = new Promise((resolve, reject) => (this.#starting = { resolve, reject }))
    // Without a job there is no waiting caller.
    this.#ready.catch(() => undefined)
    this.#thread = new WorkerThread<CheckCalls>(
      workerUrl,
      { resourceLimits, name: 'parley-check' },
      { event: () => this.#starting.resolve(), ended: (_reason, cause) => this.#ended(cause) },
    )
  }

  get isFree(): boolean {
    return this.#isFree
  }

  /** When this rejects, the thread must be ended. */
  async run(job: SchemaJob | LinesJob): Promise<Checked> {
    this.#isFree = false
    this.#idleTimer?.cancel()
    this.#thread.keepsProcess(true)
    // The time limit starts when the thread is ready: its start may take long on a busy machine.
    await this.#ready
    const answer = await waitAtMost(this.#check(job), { clock: this.#clock, ms: this.#limits.jobMs })
    if (answer === undefined) throw new CheckTooLong(true)
    this.#thread.keepsProcess(false)
    this.#isFree = this.#schemas.size < MAX_SCHEMAS
    this.#idleTimer = this.#clock.setTimer(this.#isFree ? this.#limits.idleMs : 0, () => void this.end())
    return answer
  }

  async end(): Promise<void> {
    this.#isFree = false
    this.#idleTimer?.cancel()
    this.#onEnd()
    await this.#thread.terminate()
  }

  #check(job: SchemaJob | LinesJob): Promise<Checked> {
    if (job.kind === 'lines') return this.#thread.call('lines', job)
    const isKnown = this.#schemas.has(job.key)
    this.#schemas.add(job.key)
    return this.#thread.call('schema', isKnown ? { ...job, schema: undefined } : job)
  }

  #ended(cause: unknown): Error {
    const isOutOfMemory = cause instanceof Error && 'code' in cause && cause.code === 'ERR_WORKER_OUT_OF_MEMORY'
    const thrown = cause instanceof Error ? cause : new Error('the thread has ended')
    const error = isOutOfMemory ? new CheckTooLong(true) : thrown
    this.#starting.reject(error)
    // It has no job to fail, and must not get one.
    if (this.#isFree) void this.end()
    return error
  }
}
