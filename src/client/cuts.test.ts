import { array, assert, asyncProperty, integer, nat } from 'fast-check'
import { expect, test } from 'vitest'
import { type Fields, type Message, Stage, type Wire, update } from '../../test/fixtures/client/stage.ts'

test('wherever the connection is cut, every entry is received once and in order, and the prompt is sent once and answered once', () =>
  assert(
    asyncProperty(array(nat({ max: 12 }), { maxLength: 6 }), integer({ min: 1, max: 25 }), async (cuts, last) => {
      const story: Story = { last, prompts: 0 }
      const stage = new Stage(...[...cuts, Infinity].map((lines) => booked(story, lines)))
      const client = await stage.connect()
      await client.loadSession({ sessionId: 's', cwd: '/w' })
      expect(await client.prompt('s', 'go')).toEqual({ stopReason: 'end_turn' })
      const seen = stage.updates.map(({ _meta }) => _meta?.['parley/seq'])
      expect(seen).toEqual(Array.from({ length: last }, (_, index) => index + 1))
      expect(story.prompts).toBe(1)
      client.close()
    }),
    { numRuns: 300 },
  ))

/** One session that has half of its entries before the prompt, and the others as its answer. */
interface Story {
  readonly last: number
  prompts: number
}

/** A connection that is cut after so many lines. */
function booked(story: Story, lines: number) {
  let connection: Connection | undefined
  return (message: Message, wire: Wire): void => {
    connection ??= new Connection(story, wire, lines)
    connection.hear(message)
  }
}

class Connection {
  readonly #story: Story
  readonly #wire: Wire
  #left: number
  #at = 0
  /** The request that waits for the end of the turn. */
  #waiting: unknown

  constructor(story: Story, wire: Wire, lines: number) {
    this.#story = story
    this.#wire = wire
    this.#left = lines
  }

  hear({ id, method, params }: Message): void {
    if (method === 'session/load' || method === 'session/resume') {
      const meta = (params?.['_meta'] ?? {}) as { 'parley/after'?: number; 'parley/prompts'?: readonly Fields[] }
      this.#at = meta['parley/after'] ?? 0
      this.#waiting = meta['parley/prompts']?.[0]?.['requestId']
      if (method === 'session/load') this.#tell()
      this.#say({ id, result: { _meta: { 'parley/seq': this.#head } } })
      this.#tell()
    }
    if (method === 'session/prompt') {
      this.#at = this.#head
      this.#waiting = id
      this.#story.prompts += 1
      this.#tell()
    }
    const isEnd = this.#waiting !== undefined && this.#story.prompts > 0
    if (isEnd) this.#say({ id: this.#waiting, result: { stopReason: 'end_turn' } })
  }

  get #head(): number {
    const { prompts, last } = this.#story
    return prompts > 0 ? last : Math.floor(last / 2)
  }

  #tell(): void {
    for (; this.#at < this.#head; this.#at += 1) this.#say(update(this.#at + 1))
  }

  /** Nothing is said once it is cut. */
  #say(line: Fields): void {
    this.#left -= 1
    if (this.#left < 0) this.#wire.cut()
    else this.#wire.say(line)
  }
}
