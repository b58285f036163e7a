/** An accepted prompt ends once, whatever the agent does. */
import { describe, expect, test } from 'vitest'
import { account } from '../../../test/sim/account.ts'
import { quiet } from '../../../test/sim/clock.ts'
import { House, prompted } from '../../../test/sim/house.ts'
import { deaf, signal, untilCancelled } from '../../../test/sim/puppet.ts'
import { cancel, text } from '../../../test/sim/words.ts'
import { openQuestions } from '../domain/state.ts'

describe('a turn', () => {
  test('ends with the stop reason of its agent', async () => {
    const house = new House()
    const { session, reader } = await house.open()
    await prompted(session, 'p1')
    expect(reader.text).toBe('Hello!')
    expect(reader.entries.at(-1)).toMatchObject({ kind: 'turn_ended', promptId: 'p1', stopReason: 'end_turn' })
  })

  test('ends with an error when its agent throws', async () => {
    const house = new House()
    house.agent.script = () => Promise.reject(new Error('no model\nstack'))
    const { session, reader } = await house.open()
    await prompted(session, 'p1')
    expect(reader.entries.at(-1)).toMatchObject({
      stopReason: 'error',
      error: { code: 'AGENT_FAILED', message: 'no model' },
    })
  })

  test('ends also when something fails before its agent starts', async () => {
    const house = new House()
    house.fault = (point) => {
      if (point === 'turn.started') throw new Error('a fault')
    }
    const { session, reader } = await house.open()
    await prompted(session, 'p1')
    expect(reader.entries.at(-1)).toMatchObject({ kind: 'turn_ended', stopReason: 'error' })
  })

  test('of two prompts in one batch: the second follows the first, each with its own end', async () => {
    const house = new House()
    const { session, reader } = await house.open()
    await Promise.all([
      session.prompt('p1', [text('1')]),
      session.prompt('p2', [text('2')], { trace: 2 }),
      session.prompt('p1', [text('1')]),
    ])
    await quiet()
    const ends = reader.entries.flatMap((entry) => (entry.kind === 'turn_ended' ? [entry.promptId] : []))
    expect(ends).toEqual(['p1', 'p2'])
    expect(house.agent.turns.map(({ prompt }) => prompt)).toEqual([[text('1')], [text('2')]])
    expect(house.agent.turns.map(({ promptMeta }) => promptMeta)).toEqual([undefined, { trace: 2 }])
  })

  test('gives its tool calls ids that no other call of it has, also after a restart', async () => {
    const house = new House()
    house.agent.script = async (turn) => {
      if (turn.resumed === undefined) turn.newToolCallId()
      const toolCallId = turn.newToolCallId()
      await turn.report(toolCallId, { title: 'x', status: 'completed' })
      await turn.ask({
        toolCallId,
        patch: {},
        options: [{ optionId: 'ok', name: 'OK', kind: 'allow_once' }],
        state: null,
      })
      await turn.report(turn.newToolCallId(), { title: 'y', status: 'completed' })
      return 'end_turn'
    }
    const { session } = await house.open()
    await prompted(session, 'p1')
    const { session: reopened, reader } = await house.killed(session)
    for (let question = questionOf(reopened); question !== ''; question = questionOf(reopened)) {
      await reopened.dispatch({ kind: 'answer', requestId: question, optionId: 'ok' })
      await quiet()
    }
    const ids = reader.entries.flatMap((entry) => (entry.kind === 'tool_call' ? [entry.toolCallId] : []))
    expect(ids).toHaveLength(3)
    expect(new Set(ids).size).toBe(3)
  })
})

function questionOf({ state }: Awaited<ReturnType<House['open']>>['session']): string {
  return openQuestions(state)[0]?.requestId ?? ''
}

describe('a cancelled turn', () => {
  test('accepts the last updates of its agent, and ends as cancelled', async () => {
    const house = new House()
    house.agent.script = async (turn) => {
      await untilCancelled(turn)
      await turn.say(text('I stop here.'))
      return 'end_turn'
    }
    const { session, reader } = await house.open()
    await prompted(session, 'p1')
    await session.dispatch(cancel())
    await quiet()
    expect(reader.text).toBe('I stop here.')
    expect(reader.entries.at(-1)).toMatchObject({ kind: 'turn_ended', stopReason: 'cancelled' })
  })

  test('ends after a grace period when its agent ignores the cancel, and later updates are ignored', async () => {
    const house = new House()
    const later = signal()
    const heard: unknown[] = []
    house.agent.script = async (turn) => {
      await later.given
      await turn.say(text('too late')).catch((error: unknown) => heard.push(error))
      return 'end_turn'
    }
    const { session, reader } = await house.open()
    await prompted(session, 'p1')
    await session.dispatch(cancel())
    await house.clock.advance(1_999)
    expect(session.state.phase).toBe('cancelling')
    await house.clock.advance(1)
    expect(session.state.phase).toBe('idle')
    house.agent.script = deaf
    await prompted(session, 'p2')
    later.give()
    await quiet()
    expect(heard).toHaveLength(1)
    expect(reader.text).toBe('')
    expect(account(reader.entries).ends('p1')).toBe(1)
  })

  test('ends after a grace period also if the cancel came before its agent started', async () => {
    const house = new House()
    house.agent.script = deaf
    const { session, reader } = await house.open()
    await Promise.all([session.prompt('p1', [text('x')]), session.dispatch(cancel())])
    await house.clock.advance(2_000)
    expect(reader.entries.at(-1)).toMatchObject({ kind: 'turn_ended', stopReason: 'cancelled' })
  })

  test('is stored with its cancel in one write when its agent ends at once, and else after it', async () => {
    const house = new House()
    house.agent.script = untilCancelled
    const { session, reader } = await house.open()
    await prompted(session, 'p1')
    const before = house.disk.batches.length
    await session.dispatch(cancel())
    await quiet()
    expect(reader.kinds.slice(-2)).toEqual(['turn_cancel_requested', 'turn_ended'])
    expect(house.disk.batches.slice(before)).toEqual([2])
    house.agent.script = deaf
    await prompted(session, 'p2')
    await session.dispatch(cancel())
    expect(session.state.phase).toBe('cancelling')
    expect(reader.kinds.at(-1)).toBe('turn_cancel_requested')
  })

  test('starts the next queued prompt', async () => {
    const house = new House()
    house.agent.script = untilCancelled
    const { session } = await house.open()
    await prompted(session, 'p1')
    await prompted(session, 'p2')
    await session.dispatch(cancel())
    await quiet()
    expect(session.state).toMatchObject({ phase: 'working', turn: { turnId: 't2', promptId: 'p2' } })
    expect(house.agent.turns.map(({ signal }) => signal.aborted)).toEqual([true, false])
  })
})
