/**
 * The model runs while its prompt is being stored. Publishing its answer, and the next turn, wait until the prompt is
 * stored.
 */
import { expect, test } from 'vitest'
import {
  ask,
  begin,
  ends,
  houseWith,
  inhabited,
  openWith,
  settled,
  toldTo,
  until,
} from '../../../../test/model/given.ts'
import { PuppetModel, says } from '../../../../test/model/puppet-model.ts'
import type { Session } from '../../../session/session.ts'
import type { House } from '../../../../test/sim/house.ts'
import { quiet } from '../../../../test/sim/clock.ts'

test('the request to the model is sent while the prompt is being stored, and no client gets any of the answer before', async () => {
  const { house, model, session, reader } = await openWith([says('Hello.')])
  house.fault = (point) => (point === 'turn.started' ? house.disk.hold() : undefined)
  await begin(session, 'p1')
  await until(() => model.requests.length === 1)
  await quiet()
  expect(reader.text).toBe('')
  house.disk.release()
  await settled(session)
  expect(reader.text).toBe('Hello.')
})

test('a prompt that cannot be stored is no part of the next request to the model', async () => {
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
  expect(toldTo(model, -1)).toEqual(['user: Two'])
  const { house: next, session: again } = await house.killed(session)
  const after = new PuppetModel()
  inhabited(next, after)
  await ask(again, 'p3', 'Three')
  expect(toldTo(after, 0)).toEqual(['user: Two', 'model: Hello.', 'user: Three'])
})

test('a prompt that a crash left only in the transcript is sent with the next one, once; slash commands of Parley are not', async () => {
  const { house, model, session } = await openWith([says('Hello.')])
  await ask(session, 'p1', 'One')
  const second = await crashedIn(house, session, 'Two')
  const third = await crashedIn(second.house, second.session, '/tools')
  inhabited(third.house, model)
  await ask(third.session, 'p4', 'continue')
  await ask(third.session, 'p5', 'Five')
  expect(toldTo(model, -1)).toEqual([
    'user: One',
    'model: Hello.',
    'user: Two',
    'user: [The turn before was cut off before you had answered.] | continue',
    'model: I have nothing left to say.',
    'user: Five',
  ])
})

/** The next owner, after one that was killed before anything of the turn was kept. */
async function crashedIn(house: House, session: Session, words: string) {
  const isBegun = new Promise<void>((resolve) => {
    house.fault = (point) => {
      if (point !== 'turn.started') return
      resolve()
      return new Promise(() => undefined)
    }
  })
  await begin(session, words, words)
  await isBegun
  return house.killed(session)
}

test('a quick answer is stored in one go with the end of its turn, and with what the model was asked', async () => {
  const { house } = houseWith([says('Hello.')])
  house.clock.nextTick = quiet
  const { session, reader } = await house.open()
  await ask(session, 'p1')
  await until(() => reader.entries.at(-1)?.kind === 'turn_ended')
  const together = reader.entries.slice(-(house.disk.batches.at(-1) ?? 0)).map(({ kind }) => kind)
  const [said, asked] = [together.indexOf('message_chunk'), together.indexOf('agent_checkpoint')]
  expect([asked >= 0, asked < said, together.at(-1)]).toEqual([true, true, 'turn_ended'])
})
