/** An answer says the same whether its provider's package reads all of its events or only the first of those that are alike. */
import type { LanguageModelV3StreamPart } from '@ai-sdk/provider'
import { array, asyncProperty, assert, boolean, constantFrom, nat, oneof, record, tuple } from 'fast-check'
import { expect, test } from 'vitest'
import { systemClock } from '../../clock.ts'
import { type AnswerPart, AnswerParts } from './answer-parts.ts'

/** What one event says; of one with `also` the package makes a part that no other reader expects. */
interface Chunk {
  readonly text?: string
  readonly also?: string
  /** The package passes it over. */
  readonly unheard?: string
}

/** A package: it reads events, and makes several parts of some. */
class Package {
  read = 0
  readonly #stream: TransformStream<Uint8Array, LanguageModelV3StreamPart>
  readonly #writer
  readonly #decoder = new TextDecoder()
  #rest = ''

  constructor() {
    this.#stream = new TransformStream({ transform: (bytes, controller) => this.#transform(bytes, controller) })
    this.#writer = this.#stream.writable.getWriter()
  }

  get reader(): ReadableStreamDefaultReader<LanguageModelV3StreamPart> {
    return this.#stream.readable.getReader()
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (bytes.length > 0) await this.#writer.write(bytes)
  }

  async close(): Promise<void> {
    await this.#writer.close()
  }

  async #transform(bytes: Uint8Array, controller: TransformStreamDefaultController<LanguageModelV3StreamPart>) {
    const events = (this.#rest + this.#decoder.decode(bytes, { stream: true })).split('\n\n')
    this.#rest = events.pop() ?? ''
    for (const event of events) {
      this.read += 1
      await Promise.resolve()
      const { content, also } = (JSON.parse(event.slice(6)) as { choices: [{ delta: Record<string, string> }] })
        .choices[0].delta
      for (const delta of [content, also])
        if (delta !== undefined) controller.enqueue({ type: 'text-delta', id: 't', delta })
    }
  }
}

function written({ text, also, unheard }: Chunk): string {
  const delta = { also, content: text, reasoning: unheard }
  return `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`
}

interface Sent {
  readonly chunks: readonly Chunk[]
  /** How many turns of the event loop pass before each chunk; none where it comes together with the one before. */
  readonly pauses: readonly number[]
  /** Where reads cut the bytes besides. */
  readonly cuts: readonly number[]
  /** How many turns the consumer takes for each part. */
  readonly slowness: number
  /** Whether it listens besides, as turns do. */
  readonly listens: boolean
}

async function heard({ chunks, pauses, cuts, slowness, listens }: Sent) {
  const made = new Package()
  const parts = new AnswerParts(systemClock)
  parts.from(made.reader)
  const texts: string[] = []
  const take = ({ part, pieces }: AnswerPart): void => {
    if (part.type === 'text-delta') texts.push(...(pieces ?? [part.delta]))
  }
  if (listens)
    parts.listen((heardNow) => {
      take(heardNow)
      return slowness === 0 ? undefined : wait(slowness)
    })
  const bytes = Buffer.from(chunks.map(written).join(''))
  const send = async (): Promise<void> => {
    const starts = [...startsOf(chunks, pauses), ...cuts.map((cut) => [cut, 1] as const)]
    for (const [turns, piece] of piecesOf(bytes, starts)) {
      await wait(turns)
      if (!parts.pass(piece)) await made.write(await parts.give(piece))
    }
    await made.write(parts.rest())
    await made.close()
  }
  const sending = send()
  let iterated = 0
  for (let next = await parts.next(); next !== undefined; next = await parts.next()) {
    await wait(slowness)
    iterated += 1
    take(next)
  }
  await sending
  return { texts: texts.join('|'), read: made.read, iterated }
}

async function wait(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await systemClock.nextTick()
}

type Start = readonly [at: number, turns: number]

function startsOf(chunks: readonly Chunk[], pauses: readonly number[]): readonly Start[] {
  let end = 0
  return chunks.flatMap((chunk, index): readonly Start[] => {
    const start = end
    end += Buffer.byteLength(written(chunk))
    const turns = pauses[index] ?? 0
    return turns === 0 ? [] : [[start, turns]]
  })
}

function piecesOf(bytes: Buffer, starts: readonly Start[]): readonly (readonly [turns: number, piece: Buffer])[] {
  const places = [[0, 0] as const, ...starts.filter(([at]) => at < bytes.length)].toSorted(
    ([one], [other]) => one - other,
  )
  return places.map(([at, turns], index) => [turns, bytes.subarray(at, places[index + 1]?.[0])])
}

function plain(chunks: readonly Chunk[]): string {
  return chunks
    .flatMap(({ text, also }) => [text, also])
    .filter(Boolean)
    .join('|')
}

// Few words, so that one event is often mistaken for another.
const word = constantFrom('ha', 'no', 'ü"\n')
const chunk = oneof(
  { weight: 6, arbitrary: word.map((text): Chunk => ({ text })) },
  { weight: 1, arbitrary: tuple(word, word).map(([text, also]): Chunk => ({ text, also })) },
  { weight: 2, arbitrary: word.map((also): Chunk => ({ also })) },
  { weight: 2, arbitrary: word.map((unheard): Chunk => ({ unheard })) },
)

test('events keep their order, however the stream is split, paced and read', async () => {
  const sent = record({
    chunks: array(chunk, { maxLength: 12 }),
    pauses: array(nat(3), { minLength: 12, maxLength: 12 }),
    cuts: array(nat(1_000), { maxLength: 3 }),
    slowness: nat(4),
    listens: boolean(),
  })
  const says = async (one: Sent): Promise<void> => {
    expect((await heard(one)).texts).toBe(plain(one.chunks))
  }
  await assert(asyncProperty(sent, says), { numRuns: 200 })
})

test('of a hundred similar events that arrive one by one, the provider package parses only the first', async () => {
  const chunks = Array.from({ length: 100 }, (_, at) => ({ text: `word ${at} ` }))
  const pauses = chunks.map(() => 3)
  const sent = { chunks, pauses, cuts: [], slowness: 0 }
  expect(await heard({ ...sent, listens: false })).toMatchObject({ texts: plain(chunks), read: 1, iterated: 100 })
  // A listener gets the others without an iteration.
  expect(await heard({ ...sent, listens: true })).toMatchObject({ texts: plain(chunks), read: 1, iterated: 1 })
})

test('what a listener cannot take ends the iteration with its error', async () => {
  const parts = new AnswerParts(systemClock)
  const made = new Package()
  parts.from(made.reader)
  parts.listen(() => Promise.reject(new Error('the turn is over')))
  const first = parts.next()
  await made.write(await parts.give(Buffer.from(written({ text: 'one' }))))
  await first
  const second = parts.next()
  await wait(3)
  expect(parts.pass(Buffer.from(written({ text: 'two' })))).toBe(true)
  await expect(second).rejects.toThrow('the turn is over')
})
