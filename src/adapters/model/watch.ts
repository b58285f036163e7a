/** Looks after one request: ends it when it is cancelled, when its provider falls silent, and when it is flooded. */
import type { Clock, Timer } from '../../ports/clock.ts'
import type { Signal } from '../../ports/signal.ts'

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
  readonly #clock: Clock
  readonly #patience: Patience
  readonly #asked: Signal
  readonly #source
  readonly #cancel = () => this.end({ kind: 'cancelled' })
  #bytes: Timer | undefined
  #words: Timer | undefined

  constructor(clock: Clock, patience: Patience, asked: Signal) {
    this.#clock = clock
    this.#patience = patience
    this.#asked = asked
    this.#source = clock.abortSource()
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
    this.#bytes?.cancel()
    this.#words?.cancel()
    this.#source.abort()
  }

  /** Waits for the next word, however many bytes come. */
  async word<Result>(wait: () => Promise<Result>): Promise<Result> {
    this.#words = this.#idleAfter(this.#patience.wordsMs)
    try {
      return await wait()
    } finally {
      this.#words.cancel()
    }
  }

  /** Waits for the head of the answer. */
  first<Result>(wait: () => Promise<Result>): Promise<Result> {
    return this.#byte(this.#patience.firstMs, wait)
  }

  /** Its time runs only while somebody reads: who pauses the answer does not make its provider silent. */
  watched(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    const reader = body.getReader()
    const limits = new Limits()
    let patience = this.#patience.firstMs
    return new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        const { done, value } = await this.#byte(patience, () => reader.read())
        patience = this.#patience.nextMs
        if (done) return controller.close()
        if (limits.isPassedBy(value)) this.end({ kind: 'flooded' })
        controller.enqueue(value)
      },
      cancel: (reason) => reader.cancel(reason),
    })
  }

  async #byte<Result>(ms: number, wait: () => Promise<Result>): Promise<Result> {
    this.#bytes = this.#idleAfter(ms)
    try {
      return await wait()
    } finally {
      this.#bytes.cancel()
    }
  }

  #idleAfter(ms: number): Timer {
    return this.#clock.after(ms, () => this.end({ kind: 'idle', ms }))
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
