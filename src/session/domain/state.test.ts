/** What a list shows of a session, and whether it may be unloaded, by where its turn stands. */
import { describe, expect, test } from 'vitest'
import { stateAfter } from '../../../test/sim/given.ts'
import * as say from '../../../test/sim/words.ts'
import type { Body } from './entries.ts'
import { type Existing, isAtWork, isOpenPrompt, mayUnload, rowOf } from './state.ts'

const after = (...bodies: readonly Body[]): Existing => stateAfter(...bodies) as Existing

const working = [say.created, say.accepted('p1', 'x'), say.turnStarted(1, 'p1')]
const waiting = [...working, say.toolCall('c1', 'Look'), say.asked('r1', 'c1')]
const paused = [...working, say.toolCall('c1', 'Book', 'in_progress'), say.paused('c1')]
const endsWithAgent = { ...say.asked('r1', 'c1'), survives: false } as Body
const ended = [...working, say.ended(1, 'p1', 'end_turn')]

test.each<[what: string, past: readonly Body[], phase: string, use: 'at work' | 'may unload' | 'stays']>([
  ['idle', [say.created], 'idle', 'may unload'],
  ['closed', [say.created, say.closed], 'closed', 'may unload'],
  ['working', working, 'working', 'at work'],
  ['being cancelled', [...working, say.cancelRequested(1)], 'working', 'at work'],
  ['waiting for permission', waiting, 'waiting', 'may unload'],
  [
    'waiting for permission while another call runs',
    [...waiting, say.toolCall('c2', 'x', 'in_progress')],
    'waiting',
    'stays',
  ],
  ['waiting for permission, with an agent that must live on', [...working, endsWithAgent], 'waiting', 'stays'],
  ['waiting for input to a call', paused, 'waiting', 'may unload'],
  ['suspended', [...waiting, say.suspended(1)], 'suspended', 'may unload'],
])('a session that is %s', (_what, past, ...[phase, use]) => {
  const state = after(...past)
  expect(rowOf(state).phase).toBe(phase)
  expect([isAtWork(state), mayUnload(state)]).toEqual([use === 'at work', use === 'may unload'])
})

test('a prompt is open while its turn runs, and while it waits for one', () => {
  const open = (past: readonly Body[]) =>
    ['p1', 'p2', 'p3'].filter((promptId) => isOpenPrompt(promptId, after(...past)))
  expect(open([...working, say.accepted('p2', 'x')])).toEqual(['p1', 'p2'])
  expect(open(ended)).toEqual([])
})

describe('the row of a list', () => {
  const agentOf = (agent: string) => rowOf(after({ ...say.created, agent } as Body)).agent
  test.each([
    ['script:/home/ada/plan.jsonl', 'script'],
    ['asked-script:/home/ada/plan.jsonl', 'script'],
    ['model:some/model\nof mine', 'model'],
    ['puppet', 'puppet'],
    ['my-script:x', 'my-script:x'],
  ])('names the agent %j %s, without the file or the model', (agent, kind) => expect(agentOf(agent)).toBe(kind))

  test('says how the last turn ended and what waits for an answer, and neither when there is none', () => {
    const lastEnd = { stopReason: 'end_turn', seq: ended.length, at: ended.length * 1000 }
    expect(rowOf(after(...working))).not.toHaveProperty('standing')
    expect(rowOf(after(...ended)).standing).toEqual({ lastEnd })
    const question = { requestId: 'r1', toolCallId: 'c1', title: 'Delete everything', options: say.options }
    expect(rowOf(after(...waiting)).standing).toEqual({ waiting: { ...question, count: 1 } })
    const again = [say.accepted('p2', 'y'), say.turnStarted(2, 'p2'), say.asked('r1', 'c1'), say.asked('r2', 'c2')]
    expect(rowOf(after(...ended, ...again)).standing).toEqual({ lastEnd, waiting: { ...question, count: 2 } })
  })

  test.each([
    [{ title: 'Look', name: 'look' }, 'Look'],
    [{ name: 'look' }, 'look'],
    [{}, 'c1'],
  ])('calls a call of %j %s', (call, title) =>
    expect(rowOf(after(...working, { ...say.asked('r1', 'c1'), call } as Body)).standing?.waiting?.title).toBe(title),
  )
})
