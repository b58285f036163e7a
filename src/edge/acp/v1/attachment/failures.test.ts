/**
 * No failure is silent: entries that cannot be shown, clients that cannot be reached, journals that cannot be read for a
 * moment.
 */
import { expect, test } from 'vitest'
import { quiet } from '../../../../../test/sim/clock.ts'
import { cleanUp, create, openStreet, opening, prompt } from '../../../../../test/sim/street.ts'
import { text } from '../../../../../test/sim/words.ts'

cleanUp()

/** An entry that no builtin agent creates, but a damaged journal or another version may contain. */
const unshowable = [null] as never

test('an entry that cannot be rendered is replaced by a sentence, live and in a load, and the entries after it are sent', async () => {
  const street = openStreet()
  street.house.agent.script = async (turn) => {
    await turn.say(text('before '))
    await turn.offerCommands(unshowable)
    await turn.say(text('after'))
    return 'end_turn'
  }
  const ada = await street.client()
  const sessionId = await create(ada)
  const bob = await street.client()
  await bob.request('session/resume', opening(sessionId))
  expect((await ada.request('session/prompt', prompt(sessionId, 'Go'))).result).toEqual({ stopReason: 'end_turn' })
  await quiet()
  const carl = await street.client()
  await carl.request('session/load', opening(sessionId))
  for (const client of [ada, bob, carl])
    expect(client.text).toMatch(/before .*Entry \d+ of this session could not be shown.*after/su)
})

test('a client whose update cannot be sent is disconnected, and gets all that it missed when it resumes from its cursor', async () => {
  const street = openStreet()
  const { house } = street
  const ada = await street.client()
  const sessionId = await create(ada)
  const bob = await street.client({ clientCapabilities: { _meta: { 'parley/notifications': ['mcp'] } } })
  await bob.request('session/resume', opening(sessionId))
  await ada.request('session/prompt', prompt(sessionId, 'Hello'))
  await quiet()
  const after = bob.updates.at(-1)?.seq
  let listed = 0
  house.tools.listing = () => {
    listed += 1
    // The first is for the session, the second for ada, the third for bob.
    if (listed === 3) throw new Error('no such luck')
  }
  house.tools.become('docs', 'failed')
  await ada.request('session/prompt', prompt(sessionId, 'And?'))
  await expect.poll(() => bob.isEnded).toBe(true)
  expect(bob.text).toBe('Hello!')
  expect(house.reported).toMatchObject([{ message: 'no such luck' }])
  const again = await street.client()
  await again.request('session/resume', opening(sessionId, { _meta: { 'parley/after': after } }))
  await expect.poll(() => again.text).toBe('Hello!')
  expect(ada.text).toBe('Hello!Hello!')
})

test('a journal that cannot be read for a moment does not fail a prompt whose turn runs', async () => {
  const street = openStreet()
  const { house } = street
  house.agent.script = async (turn) => {
    for (let n = 0; n < 100; n += 1) await turn.say(text('x'.repeat(32 * 1024)))
    await turn.say(text('The end.'))
    return 'end_turn'
  }
  const ada = await street.client()
  const sessionId = await create(ada)
  ada.stall()
  const asked = ada.ask('session/prompt', prompt(sessionId, 'Flood'))
  await quiet()
  await expect.poll(async () => (await house.disk.entries(sessionId)).at(-1)?.kind).toBe('turn_ended')
  house.disk.trouble = 'unreadable'
  ada.readOn()
  await house.clock.advance(3_000)
  house.disk.trouble = 'none'
  await house.clock.advance(2_000)
  expect((await ada.answerTo(asked)).result).toEqual({ stopReason: 'end_turn' })
  expect(ada.text).toMatch(/The end\.$/u)
})

test('a load during which the journal cannot be read for a moment waits, and is complete', async () => {
  const street = openStreet()
  const { house } = street
  const ada = await street.client()
  const sessionId = await create(ada)
  await ada.request('session/prompt', prompt(sessionId, 'Hello'))
  const bob = await street.client()
  house.disk.hold()
  const loaded = bob.request('session/load', opening(sessionId))
  await expect.poll(() => house.disk.waiting).toBe(1)
  house.disk.trouble = 'unreadable'
  house.disk.release()
  await house.clock.advance(3_000)
  house.disk.trouble = 'none'
  await house.clock.advance(2_000)
  expect((await loaded).error).toBeUndefined()
  expect(bob.text).toBe('Hello!')
})
