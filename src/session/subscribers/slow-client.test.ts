/** A client that does not read affects neither the session nor the other clients, and its buffer is bounded. */
import { expect, test } from 'vitest'
import { updateIn } from '../../../test/e2e/message.ts'
import { quiet } from '../../../test/sim/clock.ts'
import { cleanUp, create, openStreet, opening, prompt } from '../../../test/sim/street.ts'
import { text } from '../../../test/sim/words.ts'

cleanUp()

const MIB = 1024 * 1024

test('a slow client has a bounded buffer, delays no other client, and gets the rest when it reads again', async () => {
  const street = openStreet()
  const word = 'x'.repeat(32 * 1024)
  street.house.agent.script = async (turn) => {
    for (let n = 0; n < 500; n += 1) await turn.say(text(word))
    await turn.say(text('The end.'))
    return 'end_turn'
  }
  const ada = await street.client()
  const sessionId = await create(ada)
  const bob = await street.client()
  await bob.request('session/resume', opening(sessionId))
  await quiet()
  bob.stall()
  await ada.request('session/prompt', prompt(sessionId, 'Flood'))
  expect(bob.owed).toBeLessThan(4 * MIB)
  const last = ada.updates.at(-1)?.seq
  bob.readOn()
  await bob.until((message) => updateIn(message)?.seq === last)
  expect(bob.text === ada.text).toBe(true)
}, 60_000)

test('a slow client that sends request after request is disconnected; the session continues for the others, and it can reconnect', async () => {
  const street = openStreet()
  const ada = await street.client()
  const bob = await street.client()
  const sessionId = await create(bob)
  await ada.request('session/load', opening(sessionId))
  await bob.request('session/prompt', prompt(sessionId, 'Hello'))
  const after = bob.updates.at(-1)?.seq
  bob.stall()
  let most = 0
  for (let n = 0; !bob.isCutOff && n < 1_000; n += 1) {
    for (let one = 0; one < 100; one += 1) bob.ask('_'.repeat(4_000), {})
    await quiet()
    most = Math.max(most, bob.owed)
  }
  expect(bob.isCutOff).toBe(true)
  expect(most).toBeLessThan(70 * MIB)

  expect((await ada.request('session/prompt', prompt(sessionId, 'Still here'))).result).toEqual({
    stopReason: 'end_turn',
  })
  expect(ada.text).toBe('Hello!Hello!')
  const again = await street.client()
  await again.request('session/resume', opening(sessionId, { _meta: { 'parley/after': after } }))
  await quiet()
  expect(again.text).toBe('Hello!')
}, 60_000)
