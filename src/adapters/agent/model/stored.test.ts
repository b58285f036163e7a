/** The model is asked while its prompt is being stored; what is told of its answer, and the next turn, wait for that. */
import { expect, test } from 'vitest'
import { ask, begin, ends, houseWith, inhabited, settled, story, until } from '../../../../test/model/given.ts'
import { PuppetModel, says } from '../../../../test/model/puppet-model.ts'
import { quiet } from '../../../../test/sim/clock.ts'

test('the model is asked while its prompt is being stored, and nothing of the answer is told before', async () => {
  const { house, model } = houseWith([says('Hello.')])
  house.fault = (point) => (point === 'turn.started' ? house.disk.hold() : undefined)
  const { session, reader } = await house.open()
  await begin(session, 'p1')
  await until(() => model.requests.length === 1)
  await quiet()
  expect(reader.text).toBe('')
  house.disk.release()
  await settled(session)
  expect(reader.text).toBe('Hello.')
})

test('a prompt that cannot be stored is no part of what the model is told next', async () => {
  const { house, model } = houseWith([])
  let begun = 0
  house.fault = (point) => {
    if (point !== 'turn.started') return
    begun += 1
    model.answers = [says('Hello.')]
    if (begun === 1) house.disk.next = 'full'
  }
  const { session, reader } = await house.open()
  await ask(session, 'p1', 'One')
  expect([ends(reader.entries), reader.text]).toEqual([['error'], ''])
  await ask(session, 'p2', 'Two')
  expect(reader.text).toBe('Hello.')
  expect(story(model.requests.at(-1)?.messages ?? [])).toEqual(['user: Two'])
  const { house: next, session: again } = await house.killed(session)
  const after = new PuppetModel()
  inhabited(next, after)
  await ask(again, 'p3', 'Three')
  expect(story(after.requests[0]?.messages ?? [])).toEqual(['user: Two', 'model: Hello.', 'user: Three'])
})

test('words that come with the end of their turn are stored with it', async () => {
  const { house } = houseWith([says('Hello.')])
  house.clock.breath = quiet
  const { session, reader } = await house.open()
  await ask(session, 'p1')
  await until(() => reader.entries.at(-1)?.kind === 'turn_ended')
  const together = reader.entries.slice(-(house.disk.batches.at(-1) ?? 0)).map(({ kind }) => kind)
  expect([together[0], together.at(-1)]).toEqual(['message_chunk', 'turn_ended'])
})
