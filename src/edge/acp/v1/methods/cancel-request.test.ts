/** `$/cancel_request` of long requests: one response, and nothing is left behind. */
import { expect, test } from 'vitest'
import { quiet } from '../../../../../test/sim/clock.ts'
import { House, here } from '../../../../../test/sim/house.ts'
import { signal } from '../../../../../test/sim/puppet.ts'
import { cleanUp, create, cwd, openStreet, opening, prompt } from '../../../../../test/sim/street.ts'
import { text } from '../../../../../test/sim/words.ts'

cleanUp()

const CANCELLED = { code: -32_800, data: { code: 'REQUEST_CANCELLED' } }

test('a session/new that is cancelled has one answer and leaves no session', async () => {
  const house = new House()
  const client = await openStreet(house).client()
  const [stored, go] = [signal(), signal()]
  house.fault = (point) => {
    if (point !== 'session.batch.decided') return undefined
    stored.give()
    return go.given
  }
  const asked = client.ask('session/new', { cwd, mcpServers: [] })
  await stored.given
  client.notify('$/cancel_request', { requestId: asked })
  await quiet()
  go.give()
  expect((await client.answerTo(asked)).error).toMatchObject(CANCELLED)
  await quiet()
  expect(client.received.filter(({ id }) => id === asked)).toHaveLength(1)
  expect(await house.sessions.list({ limit: 9 })).toEqual([])
})

test('a session/load that is cancelled in the middle has one answer, and its client is attached to nothing', async () => {
  const house = new House()
  const street = openStreet(house)
  house.agent.script = async (turn) => {
    for (let n = 0; n < 40; n += 1) await turn.say({ ...text('x'.repeat(64 * 1024)), meta: { n } })
    return 'end_turn'
  }
  const author = await street.client()
  const sessionId = await create(author)
  await author.request('session/prompt', prompt(sessionId, 'Go'))
  const reader = await street.client()
  reader.stall()
  const asked = reader.ask('session/load', opening(sessionId))
  await quiet()
  reader.notify('$/cancel_request', { requestId: asked })
  await quiet()
  reader.readOn()
  expect((await reader.answerTo(asked)).error).toMatchObject(CANCELLED)
  expect(reader.updates.length).toBeLessThan(40)
  const before = reader.received.length
  await author.request('session/prompt', prompt(sessionId, 'Go on'))
  await quiet()
  expect(reader.received).toHaveLength(before)
  expect((await reader.request('session/prompt', prompt(sessionId, 'x'))).error?.data).toMatchObject({
    code: 'SESSION_NOT_ATTACHED',
  })
})

test('a session/load that adopts a prompt is not cancelled, and both are answered', async () => {
  const house = new House()
  const go = signal()
  house.agent.script = async (turn) => {
    for (let n = 0; n < 40; n += 1) await turn.say({ ...text('x'.repeat(64 * 1024)), meta: { n } })
    await go.given
    return 'end_turn'
  }
  const client = await openStreet(house).client()
  const sessionId = await create(client)
  const asked = client.ask('session/prompt', prompt(sessionId, 'Go'))
  await client.until(({ params }) => JSON.stringify(params ?? null).includes('"n":39'))
  client.stall()
  const load = client.ask('session/load', opening(sessionId))
  // Nothing tells a client that does not read how far its load is: it is where it waits when it is owed no more than before.
  let owed = 0
  for (let still = 0; still < 400 || owed === 0; still = client.owed === owed ? still + 1 : 0) {
    owed = client.owed
    await quiet()
  }
  client.notify('$/cancel_request', { requestId: load })
  await quiet()
  client.readOn()
  expect((await client.answerTo(load)).error).toBeUndefined()
  go.give()
  expect((await client.answerTo(asked)).result).toEqual({ stopReason: 'end_turn' })
})

test('a client can cancel a request while the server still recovers', async () => {
  const house = new House()
  const session = await house.sessions.create(here)
  const street = openStreet(house)
  const recovered = signal<typeof house.sessions>()
  const client = await street.client({}, { sessions: recovered.given })
  const asked = client.ask('session/load', opening(session.id))
  await quiet()
  client.notify('$/cancel_request', { requestId: asked })
  expect((await client.answerTo(asked)).error).toMatchObject(CANCELLED)
  recovered.give(house.sessions)
})

test('cancelling an answered or an unknown request has no effect', async () => {
  const client = await openStreet().client()
  const asked = client.ask('session/list', {})
  await client.answerTo(asked)
  const before = client.received.length
  for (const requestId of [asked, 'nothing', null, {}]) client.notify('$/cancel_request', { requestId })
  await quiet()
  expect(client.received).toHaveLength(before)
})
