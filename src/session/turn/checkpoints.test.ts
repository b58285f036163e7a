/** Checkpoints that an agent stores come back in order, after a restart and in a copy, beginning with the last reset. */
import { expect, test } from 'vitest'
import { diskAfter } from '../../../test/sim/given.ts'
import { House, here, prompted } from '../../../test/sim/house.ts'
import * as say from '../../../test/sim/words.ts'
import type { Turn } from '../../ports/agent.ts'
import type { Body } from '../domain/entries.ts'
import { assistantTextAfter, interruptedPromptsAfter } from './checkpoints.ts'

const { text } = say

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

test('the prompts after a checkpoint whose turns a crash ended can be read, and no others', async () => {
  const turn = (number: number, end: 'end_turn' | 'interrupted') => [
    say.accepted(`p${number}`, `${number}`),
    say.turnStarted(number, `p${number}`),
    say.ended(number, `p${number}`, end),
  ]
  const agents = [{ ...say.turnStarted(4, 't4-agent'), by: 'agent' } as Body, say.ended(4, 't4-agent', 'interrupted')]
  const past = [say.created, ...turn(1, 'interrupted'), ...turn(2, 'end_turn'), ...turn(3, 'interrupted'), ...agents]
  const journal = await diskAfter(...past)
  expect(await interruptedPromptsAfter(journal, 's-1', 0)).toEqual([[text('1')], [text('3')]])
  // The first of them was accepted before this, and the agent has it.
  expect(await interruptedPromptsAfter(journal, 's-1', 2)).toEqual([[text('3')]])
})

test('the text after a checkpoint is words alone', async () => {
  const picture = { ...say.agentSaid('m1', ''), content: { type: 'image', data: '', mimeType: 'image/png' } } as Body
  const said = [say.agentSaid('m1', 'a'), picture, say.agentSaid('m1', 'b')]
  const journal = await diskAfter(say.created, say.accepted('p1', 'x'), say.turnStarted(1, 'p1'), ...said)
  expect(await assistantTextAfter(journal, 's-1', 0)).toBe('ab')
})
