/**
 * The client leaves an agent that does not answer for a while, whichever requests are open, unless the agent waits for the
 * client.
 */
import { expect, test } from 'vitest'
import { Wire, answering, plain } from '../../../test/fixtures/client/stage.ts'
import { type Client, connect } from '../client.ts'
import type { ClientDelegate } from '../client-delegate.ts'

/** A clock that a test moves: each step runs what waits now. */
class Steps {
  #due: (() => void)[] = []

  readonly silenceTimeout = {
    ms: 120_000,
    after: (_ms: number, run: () => void) => {
      this.#due.push(run)
      return () => {
        this.#due = this.#due.filter((one) => one !== run)
      }
    },
  }

  get waits(): number {
    return this.#due.length
  }

  pass(): void {
    for (const run of this.#due.splice(0)) run()
  }
}

/** An agent that answers these methods only. */
const agent = (results: Readonly<Record<string, unknown>> = { initialize: plain }) => new Wire(answering(results))

function clientOf(wire: Wire, clock: Steps, ask: ClientDelegate['ask'] = async () => null): Promise<Client> {
  const dial = async () => wire.pipe
  const { silenceTimeout } = clock
  const means = { dial, pause: async () => undefined, newId: () => 'p', isDurable: false as const, silenceTimeout }
  const face: ClientDelegate = { updated: () => undefined, ask }
  return connect(means, face, { info: { name: 't', title: 'T', version: '1' } })
}

const silent = (method: string) => ({ code: 'AGENT_SILENT', details: { method, seconds: 120 } })

test('an agent that does not answer initialize is given up', async () => {
  const [clock, wire] = [new Steps(), agent({})]
  const connected = clientOf(wire, clock)
  await wire.until('initialize')
  clock.pass()
  await expect(connected).rejects.toMatchObject(silent('initialize'))
})

test('an agent that does not answer session/new is given up, but not while it sends messages', async () => {
  const [clock, wire] = [new Steps(), agent()]
  const client = await clientOf(wire, clock)
  const made = client.newSession('/w')
  await wire.until('session/new')
  wire.say({ id: 'q', method: 'weather/ask', params: {} })
  await wire.reply('q')
  clock.pass()
  expect(clock.waits).toBe(1)
  clock.pass()
  await expect(made).rejects.toMatchObject(silent('session/new'))
  await client.closed
})

test('an agent that waits for an answer of the client is not given up', async () => {
  const [clock, wire] = [new Steps(), agent()]
  let choose: (option: string) => void = () => undefined
  let asked: () => void = () => undefined
  const isAsked = new Promise<void>((resolve) => (asked = resolve))
  const client = await clientOf(wire, clock, () => {
    asked()
    return new Promise((resolve) => (choose = resolve))
  })
  const made = client.newSession('/w')
  const { id } = await wire.until('session/new')
  wire.say({ id: 'q', method: 'session/request_permission', params: { sessionId: 's', options: [] } })
  await isAsked
  for (let times = 0; times < 3; times += 1) clock.pass()
  choose('yes')
  await wire.reply('q')
  wire.say({ id, result: { sessionId: 's' } })
  expect(await made).toBe('s')
  expect(clock.waits).toBe(0)
})

test('a turn has no time limit', async () => {
  const [clock, wire] = [new Steps(), agent({ initialize: plain, 'session/new': { sessionId: 's' } })]
  const client = await clientOf(wire, clock)
  const ended = client.prompt(await client.newSession('/w'), 'go')
  const { id } = await wire.until('session/prompt')
  expect(clock.waits).toBe(0)
  wire.say({ id, result: { stopReason: 'end_turn' } })
  expect(await ended).toEqual({ stopReason: 'end_turn' })
})
