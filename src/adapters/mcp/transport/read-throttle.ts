/** Reads event streams with pauses, so that a server that sends without end leaves most of this thread to others. */
import type { Clock } from '../../../ports/clock.ts'

/** Lines that are passed on in one burst; an event, which costs its receiver more, counts as several. */
const BURST_LINES = 1024
const EVENT_LINES = 16
/** A chunk of this size ends a burst. */
const LARGE_BYTES = 32 * 1024
/** A pause is this multiple of the time that the burst took, up to a maximum. */
const PAUSE_FACTOR = 3
const MAX_PAUSE_MS = 1000
const MAX_OPEN_ANSWERS = 16
const NEWLINE = 0x0a
const RETURN = 0x0d

export class ReadThrottle {
  readonly #clock: Clock
  readonly #openAnswers = new Set<Promise<void>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Tracks an answer of ours; reading continues when most answers have been sent. */
  async answering(answer: Promise<void>): Promise<void> {
    const over = answer.catch(() => undefined)
    this.#openAnswers.add(over)
    await over
    this.#openAnswers.delete(over)
    await answer
  }

  /** The same response; its stream is read in bursts with pauses. */
  throttled(response: Response): Response {
    if (response.body === null || !isStream(response)) return response
    const { status, statusText, headers } = response
    return new Response(streamOf(this.#inBursts(response.body)), { status, statusText, headers })
  }

  async *#inBursts(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const chunk of body) {
      const bursts = burstsIn(chunk)
      const needsPause = bursts.length > 1 || chunk.length >= LARGE_BYTES
      for (const burst of bursts) {
        const since = this.#clock.monotonicNow()
        yield burst
        if (needsPause) await this.#pause(since)
      }
    }
  }

  async #pause(since: number): Promise<void> {
    // Lets the receivers of the burst run first, then our answers to it.
    await this.#clock.sleep(0)
    while (this.#openAnswers.size > MAX_OPEN_ANSWERS) await Promise.race(this.#openAnswers)
    await this.#clock.sleep(Math.min((this.#clock.monotonicNow() - since) * PAUSE_FACTOR, MAX_PAUSE_MS))
  }
}

/** Reads only on demand. */
function streamOf(source: AsyncGenerator<Uint8Array, void, undefined>): ReadableStream<Uint8Array> {
  const pulled: UnderlyingDefaultSource<Uint8Array> = {
    async pull(controller) {
      const { value, done } = await source.next()
      if (done === true) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await source.return()
    },
  }
  return new ReadableStream(pulled, { highWaterMark: 0 })
}

export function isStream({ headers }: Response): boolean {
  return headers.get('content-type')?.startsWith('text/event-stream') === true
}

function burstsIn(chunk: Uint8Array): readonly Uint8Array[] {
  const bursts: Uint8Array[] = []
  let from = 0
  let lines = 0
  for (const [at, byte] of chunk.entries()) {
    if (byte !== NEWLINE && byte !== RETURN) continue
    lines += isBlank(chunk, at) ? EVENT_LINES : 1
    if (lines < BURST_LINES) continue
    bursts.push(chunk.subarray(from, at + 1))
    from = at + 1
    lines = 0
  }
  return from < chunk.length ? [...bursts, chunk.subarray(from)] : bursts
}

/** Two line ends in a row end an event. */
function isBlank(chunk: Uint8Array, at: number): boolean {
  return chunk[at - 1] === chunk[at] || (chunk[at] === NEWLINE && chunk[at - 2] === NEWLINE)
}
