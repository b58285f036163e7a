/** Looks after one request: ends it when it is cancelled, when its provider falls silent, and when it is flooded. */
import type { Clock, Timer } from '../../../ports/clock.ts'
import type { Signal } from '../../../ports/signal.ts'
import { SseChunkMerger } from './sse-chunk-merger.ts'

export interface Patience {
  /** Until the first byte. */
  readonly firstMs: number
  /** Between bytes. */
  readonly nextMs: number
  /** Between words: a server that only keeps its connection warm says nothing either. */
  readonly wordsMs: number
}

/** Of one answer. */
const MOST_BYTES = 256 * 1024 * 1024
/** Of one line of it, which must stand in memory whole. */
const LONGEST_LINE = 32 * 1024 * 1024

export type Verdict =
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'idle'; readonly ms: number }
  | { readonly kind: 'flooded' }

export class Watch {
  /** Why the request was ended, once it was. */
  verdict: Verdict | undefined
  /** What it joined of the answer. */
  readonly runs = new SseChunkMerger()
  readonly #patience: Patience
  readonly #asked: Signal
  readonly #source
  readonly #cancel = () => this.end({ kind: 'cancelled' })
  readonly #bytes: Waiting
  readonly #words: Waiting

  constructor(clock: Clock, patience: Patience, asked: Signal) {
    this.#patience = patience
    this.#asked = asked
    this.#source = clock.abortSource()
    const idle = (ms: number) => this.end({ kind: 'idle', ms })
    this.#bytes = new Waiting(clock, idle)
    this.#words = new Waiting(clock, idle)
    if (asked.aborted) this.#cancel()
    else asked.addEventListener('abort', this.#cancel, { once: true })
  }

  /** What the request is sent with; it is a real one. */
  get signal(): AbortSignal {
    return this.#source.signal as AbortSignal
  }

  end(verdict: Verdict): void {
    this.verdict ??= verdict
    this.#source.abort()
  }

  close(): void {
    this.#asked.removeEventListener('abort', this.#cancel)
    this.#bytes.close()
    this.#words.close()
    this.#source.abort()
  }

  /** Waits for the next word, however many bytes come. */
  word<Result>(wait: () => Promise<Result>): Promise<Result> {
    return this.#words.during(this.#patience.wordsMs, wait)
  }

  /** Waits for the head of the answer. */
  first<Result>(wait: () => Promise<Result>): Promise<Result> {
    return this.#bytes.during(this.#patience.firstMs, wait)
  }

  /** Its time runs only while somebody reads: who pauses the answer does not make its provider silent. */
  watched(body: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
    const reader = body[Symbol.asyncIterator]()
    const limits = new Limits()
    let patience = this.#patience.firstMs
    const read = () => reader.next()
    /** What the package may read next; undefined at the end. */
    const next = async (): Promise<Uint8Array | undefined> => {
      const { done, value } = await this.#bytes.during(patience, read)
      patience = this.#patience.nextMs
      if (done === true) return undefined
      if (limits.isPassedBy(value)) this.end({ kind: 'flooded' })
      const joined = this.runs.join(value)
      return joined.length > 0 ? joined : next()
    }
    return new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        const bytes = await next()
        if (bytes !== undefined) return controller.enqueue(bytes)
        const rest = this.runs.rest()
        if (rest.length > 0) controller.enqueue(rest)
        controller.close()
      },
      // A read that waits ends with the request.
      cancel: () => void reader.return?.().catch(() => undefined),
    })
  }
}

/** Waits that must not last. One timer serves many short ones: it looks whether the wait that is on began long ago. */
class Waiting {
  readonly #clock: Clock
  readonly #tooLong: (ms: number) => void
  #since: number | undefined
  #limit = 0
  #timer: Timer | undefined

  constructor(clock: Clock, tooLong: (ms: number) => void) {
    this.#clock = clock
    this.#tooLong = tooLong
  }

  async during<Result>(ms: number, wait: () => Promise<Result>): Promise<Result> {
    this.#since = this.#clock.monotonicNow()
    if (ms !== this.#limit) this.close()
    this.#limit = ms
    this.#timer ??= this.#clock.setTimer(ms, () => this.#look())
    try {
      return await wait()
    } finally {
      this.#since = undefined
    }
  }

  close(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #look(): void {
    this.#timer = undefined
    if (this.#since === undefined) return
    const left = this.#limit - (this.#clock.monotonicNow() - this.#since)
    if (left <= 1) this.#tooLong(this.#limit)
    else this.#timer = this.#clock.setTimer(left, () => this.#look())
  }
}

class Limits {
  #all = 0
  #line = 0

  isPassedBy(bytes: Uint8Array): boolean {
    this.#all += bytes.length
    const newline = bytes.lastIndexOf(10)
    this.#line = newline === -1 ? this.#line + bytes.length : bytes.length - newline
    return this.#all > MOST_BYTES || this.#line > LONGEST_LINE
  }
}
