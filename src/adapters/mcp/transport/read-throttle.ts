/** Reads streams of events with rests: a server that never stops talking leaves the better part of this thread to the others. */
import type { Clock } from '../../../ports/clock.ts'

export interface ReadThrottle {
  /** Whoever keeps asking is read on when it has taken most of our answers. */
  answering(answer: Promise<void>): Promise<void>
  /** The same response; what its stream says comes in breaths. */
  paced(response: Response): Response
}

/** So many lines are passed on in one breath; an event, which costs whoever hears it more, counts as some of them. */
const BREATH_LINES = 1024
const EVENT_LINES = 16
/** Nobody has that much to say all the time. */
const LARGE_BYTES = 32 * 1024
/** The rest, in times of what it took to hear it, and no more than this in any case. */
const REST = 3
const LONGEST_REST_MS = 1000
const MOST_ANSWERS = 16
const NEWLINE = 0x0a
const RETURN = 0x0d

export function openReadThrottle(clock: Clock): ReadThrottle {
  const underWay = new Set<Promise<void>>()

  async function rest(since: number): Promise<void> {
    // What was passed on is heard before any timer; what it is answered goes out after that.
    await clock.sleep(0)
    while (underWay.size > MOST_ANSWERS) await Promise.race(underWay)
    await clock.sleep(Math.min((clock.monotonicNow() - since) * REST, LONGEST_REST_MS))
  }

  async function* inBreaths(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const chunk of body) {
      const breaths = breathsOf(chunk)
      const isTalkative = breaths.length > 1 || chunk.length >= LARGE_BYTES
      for (const breath of breaths) {
        const since = clock.monotonicNow()
        yield breath
        if (isTalkative) await rest(since)
      }
    }
  }

  return {
    async answering(answer) {
      const over = answer.catch(() => undefined)
      underWay.add(over)
      await over
      underWay.delete(over)
      await answer
    },
    paced(response) {
      if (response.body === null || !isStream(response)) return response
      const { status, statusText, headers } = response
      return new Response(streamOf(inBreaths(response.body)), { status, statusText, headers })
    },
  }
}

/** Nothing is read before somebody wants it. */
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

function breathsOf(chunk: Uint8Array): readonly Uint8Array[] {
  const breaths: Uint8Array[] = []
  let from = 0
  let lines = 0
  for (const [at, byte] of chunk.entries()) {
    if (byte !== NEWLINE && byte !== RETURN) continue
    lines += isBlank(chunk, at) ? EVENT_LINES : 1
    if (lines < BREATH_LINES) continue
    breaths.push(chunk.subarray(from, at + 1))
    from = at + 1
    lines = 0
  }
  return from < chunk.length ? [...breaths, chunk.subarray(from)] : breaths
}

/** A second end of line in a row is what ends an event. */
function isBlank(chunk: Uint8Array, at: number): boolean {
  return chunk[at - 1] === chunk[at] || (chunk[at] === NEWLINE && chunk[at - 2] === NEWLINE)
}
