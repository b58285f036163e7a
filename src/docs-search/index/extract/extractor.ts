/** Reads packed documents in a thread of its own, so that a poisoned file costs only itself. */
import { SerialQueue } from '../../../async/serial.ts'
import { WorkerThread } from '../../../threads/worker-thread.ts'
import type { PackedFormat } from '../collect/formats.ts'
import type { Outline } from '../document/outline.ts'

export interface ExtractRequest {
  readonly kind: PackedFormat
  readonly bytes: Uint8Array
}

export type ExtractAnswer = { readonly outline: Outline } | { readonly wrong: string }

export interface ExtractCalls {
  readonly extract: { readonly ask: ExtractRequest; readonly answer: ExtractAnswer }
}

export interface ExtractLimits {
  readonly milliseconds: number
  /** Of the whole process, beyond what it used when the file was begun. */
  readonly megabytes: number
}

const LIMITS: ExtractLimits = { milliseconds: 20_000, megabytes: 600 }
const MAX_HEAP_MEGABYTES = 400
const MEMORY_CHECK_MS = 100
/** The libraries take memory, so the thread ends after this long without work. Milliseconds. */
const IDLE_MS = 30_000
/** The `workerData` that makes the worker an extractor. */
export const EXTRACTOR = 'extractor'

export class Extractor implements AsyncDisposable {
  readonly #workerUrl: URL
  readonly #limits: ExtractLimits
  #thread: WorkerThread<ExtractCalls> | undefined
  readonly #queue = new SerialQueue()
  #idle: NodeJS.Timeout | undefined
  #closed = false

  constructor(workerUrl: URL, limits: Partial<ExtractLimits> = {}) {
    this.#workerUrl = workerUrl
    this.#limits = { ...LIMITS, ...limits }
  }

  /** One file at a time. Throws what is wrong with it, or which limit it went beyond. */
  extract(request: ExtractRequest): Promise<Outline> {
    return this.#queue.run(() => this.#extract(request))
  }

  async #extract(request: ExtractRequest): Promise<Outline> {
    if (this.#closed) throw new Error('the index is closing')
    clearTimeout(this.#idle)
    const thread = (this.#thread ??= this.#start())
    try {
      const answer = await this.#withinLimits(thread.call('extract', request))
      if ('wrong' in answer) throw new Error(answer.wrong)
      this.#idle = setTimeout(() => void this.#end(), IDLE_MS).unref()
      return answer.outline
    } catch (error) {
      // The thread may still be busy with the file, so it ends.
      await this.#end()
      throw error
    }
  }

  #start(): WorkerThread<ExtractCalls> {
    const resourceLimits = { maxOldGenerationSizeMb: MAX_HEAP_MEGABYTES }
    const thread = new WorkerThread<ExtractCalls>(
      this.#workerUrl,
      { workerData: EXTRACTOR, resourceLimits, name: 'parley-extract' },
      {
        event: () => undefined,
        ended: (_reason, cause) => {
          // If it was idle, the next file gets another.
          if (this.#thread === thread) this.#thread = undefined
          return cause instanceof Error ? cause : new Error('reading it ended the reader')
        },
      },
    )
    thread.keepsProcess(false)
    return thread
  }

  async #withinLimits(answer: Promise<ExtractAnswer>): Promise<ExtractAnswer> {
    const over = new AbortController()
    try {
      return await Promise.race([answer, this.#limitReached(over.signal)])
    } finally {
      over.abort()
    }
  }

  /** Rejects when a limit is reached. Otherwise it never settles; the signal stops its timer. */
  #limitReached(signal: AbortSignal): Promise<never> {
    const { milliseconds, megabytes } = this.#limits
    const [until, most] = [performance.now() + milliseconds, process.memoryUsage.rss() + megabytes * 1_000_000]
    return new Promise((_, reject) => {
      const look = setInterval(() => {
        if (performance.now() > until) reject(new Error(`it takes longer than ${milliseconds / 1_000} s to read`))
        if (process.memoryUsage.rss() > most) reject(new Error(`it takes more than ${megabytes} MB to read`))
      }, MEMORY_CHECK_MS)
      signal.addEventListener('abort', () => clearInterval(look))
    })
  }

  async #end(): Promise<void> {
    clearTimeout(this.#idle)
    const thread = this.#thread
    this.#thread = undefined
    await thread?.terminate()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    await this.#end()
    await this.#queue.settled()
  }
}
