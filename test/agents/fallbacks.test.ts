/** What an agent can give a session no more, or not as it is: a copy for a fork, and a system prompt. */
import { expect, test } from 'vitest'
import { systemClock } from '../../src/adapters/clock.ts'
import type { Move } from '../fake-agent/case.ts'
import { until } from '../fixtures/process/running.ts'
import { Stage, called, endOf, lastPrompt, notices, prompted, sent } from './stage.ts'

const FORKS = { capabilities: { loadSession: true, sessionCapabilities: { delete: {}, list: {}, fork: {} } } }

test.concurrent('a fork that has had turns is no copy of its source: its agent gets what was said in both [51]', async ({
  onTestFinished,
}) => {
  const stage = new Stage()
  onTestFinished(() => stage[Symbol.asyncDispose]())
  const fake = stage.fake(FORKS)
  stage.fake({}, { name: 'other' })
  const { session, reader } = await stage.open()
  await prompted(session, reader, 'one')
  const fork = await stage.reopened(await stage.sessions.fork(session.id))
  for (const agent of ['acp:other', 'acp:fake']) {
    await stage.sessions.open(fork.session.id, { ...stage.here, agent })
    await prompted(fork.session, fork.reader, `to ${agent}`)
  }
  const [told, typed] = lastPrompt(fake)
  expect(told).toContain('User: one\nAssistant: echo: one\nUser: to acp:other\nAssistant: echo: to acp:other')
  expect(typed).toBe('to acp:fake')
  expect(called(fake, 'session/fork')).toEqual([0])
  expect(notices(fork.reader).at(-1)).toBe('fake was given 2 turns of this session.')
})

test.concurrent('a turn that failed before its agent said a word keeps no agent from copying the source of a fork [51]', async ({
  onTestFinished,
}) => {
  const stage = new Stage()
  onTestFinished(() => stage[Symbol.asyncDispose]())
  const fake = stage.fake(FORKS)
  stage.fake({ on: { 'session/new': [{ fail: { code: -32000, message: 'log in' } }] } }, { name: 'other' })
  const { session, reader } = await stage.open()
  await prompted(session, reader, 'one')
  const fork = await stage.reopened(await stage.sessions.fork(session.id))
  for (const [agent, stopReason] of [
    ['acp:other', 'error'],
    ['acp:fake', 'end_turn'],
  ] as const) {
    await stage.sessions.open(fork.session.id, { ...stage.here, agent })
    expect(await prompted(fork.session, fork.reader, 'on')).toMatchObject({ stopReason })
  }
  expect(called(fake, 'session/fork')).toEqual([1])
  expect(lastPrompt(fake)).toEqual(['on'])
})

test.concurrent.for<{ readonly how: string; readonly move: Move; readonly ms: number }>([
  { how: 'dies', move: { die: 1 }, ms: 0 },
  { how: 'hangs', move: { silent: true }, ms: 200_000 },
])(
  'an agent that $how while it copies is asked once, and gets the transcript instead [51]',
  async ({ move, ms }, { onTestFinished }) => {
    let passedMs = 0
    const clock = { ...systemClock, monotonicNow: () => systemClock.monotonicNow() + passedMs }
    const stage = new Stage(undefined, undefined, clock)
    onTestFinished(() => stage[Symbol.asyncDispose]())
    const fake = stage.fake({ ...FORKS, on: { 'session/fork': [move] } })
    const { session, reader } = await stage.open()
    await prompted(session, reader, 'one')
    const fork = await stage.reopened(await stage.sessions.fork(session.id))
    const promptId = await sent(fork.session, 'on')
    await until(() => called(fake, 'session/fork')[0] === 1)
    passedMs = ms
    expect(await endOf(fork.reader, promptId)).toMatchObject({ stopReason: 'end_turn' })
    expect(lastPrompt(fake)).toEqual([expect.stringContaining('echo: one'), 'on'])
    expect(called(fake, 'session/fork')).toEqual([1])
  },
)

test.concurrent('a copy whose source goes on while it is made is deleted in the agent [51]', async ({
  onTestFinished,
}) => {
  const stage = new Stage()
  onTestFinished(() => stage[Symbol.asyncDispose]())
  const fake = stage.fake({ ...FORKS, on: { 'session/fork': [{ gate: 'copy' }] } })
  const { session, reader } = await stage.open()
  await prompted(session, reader, 'one')
  const fork = await stage.reopened(await stage.sessions.fork(session.id))
  const promptId = await sent(fork.session, 'on')
  await fake.until(({ mark }) => mark === 'at copy')
  await prompted(session, reader, 'two')
  fake.open('copy')
  await endOf(fork.reader, promptId)
  expect(fake.received('session/delete').map(({ sessionId }) => sessionId)).toEqual(['fake-2'])
  expect(fake.sessions).toEqual(['fake-1', 'fake-3'])
})

test.concurrent.for(['resume', 'load', 'fork'])(
  'an agent that takes no system prompt any more gets once, in front of a prompt, what it had there: by session/%s [41]',
  async (way, { onTestFinished }) => {
    const stage = new Stage()
    onTestFinished(() => stage[Symbol.asyncDispose]())
    const fake = stage.fake({ capabilities: { sessionCapabilities: { systemPrompt: {} } } })
    stage.fake({}, { name: 'other' })
    const before = await stage.open('acp:other')
    await prompted(before.session, before.reader, 'one')
    await stage.sessions.close(before.session.id)
    const session = await stage.sessions.open(before.session.id, { ...stage.here, agent: 'acp:fake' })
    await prompted(session, await stage.join(session), 'two')
    expect(JSON.stringify(fake.received('session/new')[0]?.['systemPrompt'])).toContain('echo: one')
    fake.becomes({ capabilities: { loadSession: way !== 'resume', sessionCapabilities: { [way]: {} } } })
    const id = way === 'fork' ? await stage.sessions.fork(session.id) : session.id
    const after = await stage.killed(id)
    await prompted(after.session, after.reader, 'three')
    const [told = '', typed] = lastPrompt(fake)
    expect([told.includes('echo: one'), told.includes('echo: two'), typed]).toEqual([true, false, 'three'])
    expect(called(fake, `session/${way}`)).toEqual([1])
    expect(notices(after.reader).at(-1)).toBe('fake was given 1 turn of this session.')
    const last = await stage.killed(id)
    await prompted(last.session, last.reader, 'four')
    expect(lastPrompt(fake)).toEqual(['four'])
  },
)

test.concurrent('a live session that changes to an agent with a system prompt keeps the conversation of that agent [55]', async ({
  onTestFinished,
}) => {
  const stage = new Stage()
  onTestFinished(() => stage[Symbol.asyncDispose]())
  stage.fake()
  const other = stage.fake(
    { capabilities: { sessionCapabilities: { resume: {}, systemPrompt: {} } } },
    { name: 'other' },
  )
  const { session, reader } = await stage.open()
  await prompted(session, reader, 'one')
  await stage.sessions.open(session.id, { ...stage.here, agent: 'acp:other' })
  await prompted(session, reader, 'two')
  expect(JSON.stringify(other.received('session/new')[0]?.['systemPrompt'])).toContain('echo: one')
  const after = await stage.killed(session.id)
  await prompted(after.session, after.reader, 'three')
  expect(called(other, 'session/new', 'session/resume')).toEqual([1, 1])
})
