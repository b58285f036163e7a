/** What agents of other processes do beyond Parley's own: several questions at once, turns without a prompt, memories of their own. */
import { expect, test } from 'vitest'
import type { AgentMemory, AgentSessionRecord, PastTurn, Turn } from '../../ports/agent.ts'
import type { PermissionOutcome } from '../../ports/values/content.ts'
import { quiet } from '../../../test/sim/clock.ts'
import { House, here, prompted } from '../../../test/sim/house.ts'
import { answer, options, text } from '../../../test/sim/words.ts'
import { openQuestions } from '../domain/state.ts'

/** An agent that asks two questions at once, which end with its process. */
function asking() {
  const house = new House()
  const heard: PermissionOutcome[] = []
  house.agent.script = async (turn: Turn) => {
    const ask = (toolCallId: string) =>
      turn.ask({ toolCallId, patch: { title: toolCallId, status: 'pending' }, options, state: null, survives: false })
    heard.push(...(await Promise.all([ask('c1'), ask('c2')])))
    return 'end_turn'
  }
  return { house, heard }
}

test('permission requests that are open at once are each answered once', async () => {
  const { house, heard } = asking()
  const { session, reader } = await house.open()
  await prompted(session, 'p1')
  const [first, second] = openQuestions(session.state)
  expect(reader.view?.questions.map(({ toolCallId }) => toolCallId)).toEqual(['c1', 'c2'])
  await session.dispatch(answer(second?.requestId ?? '', 'reject_once'))
  await quiet()
  expect(session.state.phase).toBe('waiting')
  await session.dispatch(answer(first?.requestId ?? '', 'allow_once'))
  await quiet()
  expect(heard).toMatchObject([{ optionId: 'allow_once' }, { optionId: 'reject_once' }])
  expect(reader.view).toMatchObject({ phase: 'idle', questions: [] })
})

test('a permission request that ends with its agent’s process is not suspended: its turn is interrupted, and the session is not unloaded while it is open', async () => {
  const { house } = asking()
  const { session } = await house.open()
  await prompted(session, 'p1')
  await house.clock.advance(600_000)
  expect(session.closed.aborted).toBe(false)
  const after = await house.killed(session)
  expect(after.session.state).toMatchObject({ phase: 'idle', recentPrompts: [{ stopReason: 'interrupted' }] })
  expect(after.reader.kinds.filter((kind) => kind === 'permission_resolved')).toHaveLength(2)
})

test('an agent that works without a prompt has a turn of its own, and prompts are queued behind it', async () => {
  const house = new House()
  const { session, reader } = await house.open()
  const [view] = house.agent.sessions
  const play = house.agent.script
  let end = (): void => undefined
  house.agent.script = async (turn) => {
    if (turn.by !== 'agent') return play(turn)
    await turn.say(text('The build is done.'))
    await new Promise<void>((resolve) => (end = resolve))
    return 'end_turn'
  }
  expect(await view?.beginTurn()).toBe(true)
  expect(await view?.beginTurn()).toBe(false)
  await prompted(session, 'p1')
  expect(view?.promptsWaiting).toBe(1)
  end()
  await quiet()
  const turns = reader.entries.filter(({ kind }) => kind === 'turn_started' || kind === 'turn_ended')
  expect(turns).toMatchObject([
    { turnId: 't1', by: 'agent' },
    { turnId: 't1', stopReason: 'end_turn' },
    { turnId: 't2', promptId: 'p1' },
    { turnId: 't2', stopReason: 'end_turn' },
  ])
})

test('another message id of the agent begins another message, and the id is stored once', async () => {
  const house = new House()
  house.agent.script = async (turn) => {
    await turn.say(text('One'), { messageId: 'a' })
    await turn.say(text(' and more'), { messageId: 'a' })
    await turn.say(text('Two'), { messageId: 'b' })
    return 'end_turn'
  }
  const { session, reader } = await house.open()
  await prompted(session, 'p1')
  const chunks = reader.entries.flatMap((entry) =>
    entry.kind === 'message_chunk' && entry.role === 'agent' ? [[entry.messageId, entry.agentMessageId]] : [],
  )
  expect(chunks).toEqual([
    ['t1-m1', 'a'],
    ['t1-m1', undefined],
    ['t1-m2', 'b'],
  ])
})

const record: AgentSessionRecord = {
  generation: 1,
  agent: 'puppet',
  version: '1.0.0',
  agentSessionId: 'theirs-1',
  how: 'new',
  caps: ['load'],
  cwd: here.cwd,
  roots: [here.cwd],
  upTo: 1,
}

test('the stored state of an agent depends on how its last turn ended, and is given to that agent only', async () => {
  const house = new House()
  const { session } = await house.open()
  const [view] = house.agent.sessions
  const standing = (): AgentMemory['standing'] | undefined => view?.memory?.standing
  await view?.remember(record)
  expect(standing()).toBe('unprompted')
  await prompted(session, 'p1')
  expect(standing()).toBe('clean')
  house.agent.script = async () => Promise.reject(new Error('gone'))
  await prompted(session, 'p2')
  expect(standing()).toBe('cut')
  house.agents.named('other')
  await house.sessions.open(session.id, { ...here, agent: 'other' })
  await prompted(session, 'p3')
  await house.sessions.open(session.id, { ...here, agent: 'puppet' })
  const [back] = house.agent.sessions
  expect(back?.memory?.standing).toBe('outdated')
  const copy = await house.sessions.open(await house.sessions.fork(session.id), here)
  expect(copy.existing.agentSession).toBeNull()
})

test('past turns are sent in order, those made outside Parley before the turn that found them', async () => {
  const house = new House()
  house.agent.script = async (turn) => {
    await turn.tellOutside('user', 1, text('Typed elsewhere'))
    await turn.tellOutside('agent', 2, text('Answered there.'))
    await turn.say(text('Here.'))
    await turn.report('c1', { title: 'Write', status: 'in_progress' })
    const diff = { type: 'diff', path: '/a', oldText: 'one\ntwo\n', newText: 'one\n2\n3\n' } as const
    await turn.report('c1', { status: 'completed', content: [diff] })
    return 'end_turn'
  }
  const { session } = await house.open()
  await prompted(session, 'p1', 'Typed here')
  const [view] = house.agent.sessions
  const told: PastTurn[] = []
  for await (const turn of view?.pastTurns(0) ?? []) told.push(turn)
  expect(told).toMatchObject([
    { by: 'outside', prompt: [text('Typed elsewhere')], parts: [{ text: 'Answered there.' }] },
    {
      by: 'prompt',
      prompt: [text('Typed here')],
      parts: [
        { text: 'Here.' },
        { title: 'Write', status: 'completed', diffs: [{ path: '/a', added: 2, removed: 1 }] },
      ],
      end: 'end_turn',
    },
  ])
})
