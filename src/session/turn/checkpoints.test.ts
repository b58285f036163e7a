/** Checkpoints that an agent stores come back in order, after a restart and in a copy, beginning with the last reset. */
import { expect, test } from 'vitest'
import { House, here, prompted } from '../../../test/sim/house.ts'
import { text } from '../../../test/sim/words.ts'
import type { Turn } from '../../ports/agent.ts'

async function recalled(turn: Turn, after = 0): Promise<unknown[]> {
  const memos: unknown[] = []
  for await (const { data: memo } of turn.readCheckpoints(after)) memos.push(memo)
  return memos
}

test('checkpoints are read in order, from any place on, also in a fork, and are sent to no client', async () => {
  const house = new House()
  const heard: unknown[] = []
  house.agent.script = async (turn) => {
    heard.push(await recalled(turn))
    const place = await turn.checkpoint({ step: 1 })
    await turn.say(text('between'))
    await turn.checkpoint({ step: 2 })
    heard.push(await recalled(turn), await recalled(turn, place))
    return 'end_turn'
  }
  const { session } = await house.open()
  await prompted(session, 'p1')
  expect(heard).toEqual([[], [{ step: 1 }, { step: 2 }], [{ step: 2 }]])
  const copy = await house.sessions.fork(session.id)
  house.agent.script = async (turn) => {
    heard.push(await recalled(turn))
    return 'end_turn'
  }
  const fork = await house.sessions.open(copy, here)
  await prompted(fork, 'p2')
  expect(heard.at(-1)).toEqual([{ step: 1 }, { step: 2 }])
})

test('checkpoints before a reset are not read again', async () => {
  const house = new House()
  let heard: unknown[] = []
  house.agent.script = async (turn) => {
    await turn.checkpoint('old')
    await turn.checkpoint('summary', 'reset')
    await turn.checkpoint('new')
    heard = await recalled(turn)
    return 'end_turn'
  }
  const { session } = await house.open()
  await prompted(session, 'p1')
  expect(heard).toEqual(['summary', 'new'])
})

test('the text after a checkpoint can be read, whatever interrupted the turn', async () => {
  const house = new House()
  house.agent.script = async (turn) => {
    await turn.say(text('before '))
    const place = await turn.checkpoint('a step')
    await turn.think(text('hm'))
    await turn.say(text('Half a '))
    await turn.say(text('sentence'))
    expect(await turn.assistantTextAfter(place)).toBe('Half a sentence')
    throw new Error('cut')
  }
  const { session } = await house.open()
  await prompted(session, 'p1')
  const { house: next, session: reopened } = await house.killed(session)
  let heard = ''
  next.agent.script = async (turn) => {
    for await (const { cursor: place } of turn.readCheckpoints(0)) heard = await turn.assistantTextAfter(place)
    return 'end_turn'
  }
  await prompted(reopened, 'p2')
  expect(heard).toBe('Half a sentence')
})
