/** Only one answer counts: permission requests to users, and who may approve them. */
import { describe, expect, test } from 'vitest'
import type { PermissionOutcome } from '../../ports/values/content.ts'
import type { Turn } from '../../ports/agent.ts'
import { quiet } from '../../../test/sim/clock.ts'
import { House, prompted } from '../../../test/sim/house.ts'
import { answer, cancel, options, text } from '../../../test/sim/words.ts'
import { isYes } from './permission-answer.ts'
import type { Session } from '../session.ts'
import { openQuestions } from './state.ts'
import { answerIn } from '../../../test/sim/puppet.ts'

/** An agent that asks once and then tells what it heard. */
function asking() {
  const house = new House()
  const heard: PermissionOutcome[] = []
  house.agent.script = async (turn: Turn) => {
    const question = { toolCallId: 'c1', patch: { title: 'Delete everything' }, options, state: { step: 1 } }
    const outcome = answerIn(turn) ?? (await turn.ask(question))
    heard.push(outcome)
    await turn.say(text(isYes(outcome) ? 'Done.' : 'Then not.'))
    return 'end_turn'
  }
  return { house, heard }
}

function question({ state }: Session): string {
  return openQuestions(state)[0]?.requestId ?? 'none'
}

describe('a question', () => {
  test('goes to everyone; the first answer wins and the second is told that nobody waits', async () => {
    const { house, heard } = asking()
    const { session, reader } = await house.open()
    const other = await house.join(session)
    await prompted(session, 'p1')
    for (const one of [reader, other]) expect(one.kinds.at(-1)).toBe('permission_requested')
    const requestId = question(session)
    const answers = await Promise.allSettled([
      session.dispatch(answer(requestId, 'reject_once')),
      session.dispatch(answer(requestId, 'allow_once')),
    ])
    await quiet()
    expect(answers).toMatchObject([
      { status: 'fulfilled' },
      { status: 'rejected', reason: { code: 'PERMISSION_UNKNOWN' } },
    ])
    expect(heard).toEqual([{ outcome: 'selected', optionId: 'reject_once', kind: 'reject_once' }])
    expect(other.text).toBe('Then not.')
  })

  test.each(['yes', '', null])('answered with %j, which was not offered, is not a yes', async (optionId) => {
    const { house, heard } = asking()
    const { session, reader } = await house.open()
    await prompted(session, 'p1')
    await session.dispatch(answer(question(session), optionId))
    await quiet()
    expect(heard).toEqual([{ outcome: 'cancelled' }])
    expect(reader.text).toBe('Then not.')
  })

  test.each(['cancel first', 'answer first'])(
    'cancelled and answered in one breath, %s, ends as cancelled',
    async (order) => {
      const { house } = asking()
      const { session, reader } = await house.open()
      await prompted(session, 'p1')
      const commands = [cancel(), answer(question(session), 'allow_once')]
      if (order === 'answer first') commands.reverse()
      await Promise.allSettled(commands.map((command) => session.dispatch(command)))
      await quiet()
      expect(reader.entries.at(-1)).toMatchObject({ kind: 'turn_ended', stopReason: 'cancelled' })
    },
  )

  test('cancelled while it waits resolves cancelled, and its prompt ends cancelled', async () => {
    const { house, heard } = asking()
    const { session, reader } = await house.open()
    await prompted(session, 'p1')
    await session.dispatch(cancel())
    await quiet()
    expect(heard).toEqual([{ outcome: 'cancelled' }])
    expect(reader.entries.at(-1)).toMatchObject({ kind: 'turn_ended', stopReason: 'cancelled' })
  })

  test('waits with nobody attached, also through kill -9, and goes on when answered', async () => {
    const { house } = asking()
    const { session } = await house.open()
    await prompted(session, 'p1')
    const next = await house.killed(session)
    expect(next.session.state.phase).toBe('suspended')
    expect(next.house.agent.turns).toEqual([])
    await next.session.dispatch(answer(question(next.session), 'allow_once'))
    await quiet()
    const [turn] = next.house.agent.turns
    const outcome = { outcome: 'selected', optionId: 'allow_once', kind: 'allow_once' }
    expect(turn?.resumed).toEqual({ calls: [{ state: { step: 1 }, toolCallId: 'c1', outcome }], ended: [] })
    expect(next.reader.text).toBe('Done.')
    expect(next.reader.entries.at(-1)).toMatchObject({ kind: 'turn_ended', promptId: 'p1', stopReason: 'end_turn' })
  })

  test('of a suspended turn that is cancelled ends its prompt, and no agent runs', async () => {
    const { house } = asking()
    const { session } = await house.open()
    await prompted(session, 'p1')
    const next = await house.killed(session)
    await next.session.dispatch(cancel())
    await quiet()
    expect(next.reader.entries.at(-1)).toMatchObject({ kind: 'turn_ended', stopReason: 'cancelled' })
    expect(next.house.agent.turns).toEqual([])
  })

  test('is asked after the one before it was answered', async () => {
    const house = new House()
    house.agent.script = async (turn) => {
      const ask = (toolCallId: string) => turn.ask({ toolCallId, patch: { title: toolCallId }, options, state: null })
      await Promise.all([ask('c1'), ask('c2')])
      return 'end_turn'
    }
    const { session, reader } = await house.open()
    await prompted(session, 'p1')
    expect(reader.kinds.filter((kind) => kind === 'permission_requested')).toHaveLength(1)
    await session.dispatch(answer(question(session), 'allow_once'))
    await quiet()
    await session.dispatch(answer(question(session), 'allow_once'))
    await quiet()
    expect(reader.entries.at(-1)).toMatchObject({ kind: 'turn_ended', stopReason: 'end_turn' })
  })
})
