/** Agents that hang, crash, ignore a cancel or leave processes behind: told, ended, and no other session is harmed. */
import { expect, test } from 'vitest'
import { runs, until } from '../fixtures/process/running.ts'
import { Stage, endOf, pacedClock, notices, prompted, sent } from './stage.ts'

test.concurrent.each([
  ['answers version 9', { protocolVersion: 9 }, 'AGENT_PROTOCOL'],
  ['never answers', { on: { initialize: [{ stderr: 'still thinking\n' }, { silent: true as const }] } }, 'AGENT_STUCK'],
  ['ends at once', { start: [{ stderr: 'no module named x\n' }, { die: 3 }] }, 'AGENT_START_FAILED'],
] as const)('an agent that %s is a clear error, and the prompt was not sent [5]', async (_what, plan, code) => {
  await using stage = new Stage(undefined, undefined, pacedClock(5))
  const fake = stage.fake(plan, { quirks: { initMs: 10_000 } })
  const { session, reader } = await stage.open()
  const { error } = await prompted(session, reader, 'hi')
  expect(error?.code).toBe(code)
  expect(error?.message).toMatch(/version 9|still thinking|no module named x/u)
  expect(fake.prompts).toEqual([])
  await until(() => fake.processes.length === 0)
})

test.concurrent('an agent that ignores a cancel holds the next prompt until it is killed; another session goes on [23]', async () => {
  const plan = { on: { 'session/cancel': [] }, prompts: { hi: [{ chunk: 'working' }, { silent: true as const }] } }
  await using stage = new Stage(undefined, undefined, pacedClock(5))
  const fake = stage.fake(plan, { quirks: { cancelKillMs: 3_500 } })
  const other = stage.fake({}, { name: 'other' })
  const { session, reader } = await stage.open()
  const quiet = await stage.open('acp:other')
  const promptId = await sent(session, 'hi')
  await until(() => reader.text.includes('working'))
  await session.dispatch({ kind: 'cancel', queued: [] })
  const next = await sent(session, 'next')
  expect(await endOf(reader, promptId)).toMatchObject({ stopReason: 'cancelled' })
  expect(fake.prompts).toEqual(['hi'])
  expect(await endOf(reader, next)).toMatchObject({ stopReason: 'end_turn' })
  expect(fake.prompts).toEqual(['hi', 'next'])
  expect(notices(reader)[0]).toContain('did not end the cancelled turn')
  expect(await prompted(quiet.session, quiet.reader, 'hi')).toMatchObject({ stopReason: 'end_turn' })
  expect(other.log.filter(({ start }) => start !== undefined)).toHaveLength(1)
})

test.concurrent('what an agent says of a cancelled turn after its end is no part of the answer to the next prompt [23]', async () => {
  const call = (sessionUpdate: string, status: string) => ({ update: { sessionUpdate, toolCallId: 'c', status } })
  const hi = [
    { chunk: 'working ' },
    call('tool_call', 'in_progress'),
    { gate: 'late' },
    { chunk: 'as I was saying ' },
    call('tool_call_update', 'completed'),
  ]
  await using stage = new Stage(undefined, undefined, pacedClock(5))
  const fake = stage.fake({ on: { 'session/cancel': [] }, prompts: { hi } }, { quirks: { cancelKillMs: 600_000 } })
  const { session, reader } = await stage.open()
  const promptId = await sent(session, 'hi')
  await until(() => reader.text.includes('working'))
  await session.dispatch({ kind: 'cancel', queued: [] })
  const next = await sent(session, 'next')
  await endOf(reader, promptId)
  fake.open('late')
  expect(await endOf(reader, next)).toMatchObject({ stopReason: 'end_turn' })
  expect(reader.text).toBe('working echo: next')
  expect(reader.entries.filter(({ kind }) => kind === 'tool_call')).toHaveLength(1)
})

test.concurrent('a process that is being ended is gone before the next one starts', async () => {
  const prompts = {
    hi: [{ fail: { code: -32_603, message: 'out of order' } }],
    next: [{ chunk: 'next' }, { gate: 'end' }],
  }
  await using stage = new Stage(undefined, undefined, pacedClock(5))
  const reloadAfter = [{ text: 'out of order' }]
  const fake = stage.fake({ prompts, ignores: ['eof', 'SIGTERM'] }, { quirks: { reloadAfter } })
  const { session, reader } = await stage.open()
  fake.becomes({ prompts, isProcess: true })
  expect(await prompted(session, reader, 'hi')).toMatchObject({ error: { code: 'AGENT_FAILED' } })
  const next = await sent(session, 'next')
  await until(() => reader.text === 'next')
  expect(fake.processes).toHaveLength(1)
  fake.open('end')
  expect(await endOf(reader, next)).toMatchObject({ stopReason: 'end_turn' })
})

test.concurrent('a prompt that comes while the idle process is being ended has another, which is not ended with it', async () => {
  const close = [{ first: 1, name: 'close', moves: [{ mark: 'closing' }, { gate: 'never' }] }]
  const next = [{ chunk: 'next ' }, { gate: 'end' }, { chunk: 'end' }]
  const capabilities = { sessionCapabilities: { close: {} } }
  await using stage = new Stage()
  const fake = stage.fake({ capabilities, on: { 'session/close': close }, prompts: { next } })
  const { session, reader } = await stage.open()
  await prompted(session, reader, 'hi')
  const released = session.releaseAgent('idle')
  await fake.until(({ mark }) => mark === 'closing')
  const promptId = await sent(session, 'next')
  await until(() => reader.text.includes('next '))
  await released
  fake.open('end')
  expect(await endOf(reader, promptId)).toMatchObject({ stopReason: 'end_turn' })
  expect(reader.text).toBe('echo: hinext end')
})

test.concurrent('two clients prompt at once: the second is sent after the first has ended [22]', async () => {
  await using stage = new Stage()
  const fake = stage.fake({ answersOnePrompt: true, prompts: { one: [{ gate: 'go' }, { chunk: 'One.' }] } })
  const { session, reader } = await stage.open()
  const first = await sent(session, 'one')
  const second = await sent(session, 'two')
  await until(() => fake.prompts.length === 1)
  fake.open('go')
  await endOf(reader, first)
  expect(await endOf(reader, second)).toMatchObject({ stopReason: 'end_turn' })
  expect(reader.text).toBe('One.echo: two')
})

test.concurrent.each([
  ['holds the pipe', { holdsPipe: true }],
  ['leads a session of its own', { ownSession: true }],
  ['ignores SIGTERM', { ignoresTerm: true }],
] as const)('a process of the agent that %s is gone after the session is closed [28]', async (_what, grandchild) => {
  await using stage = new Stage()
  const fake = stage.fake({ prompts: { hi: [{ grandchild }, { chunk: 'Started.' }] } })
  const { session, reader } = await stage.open()
  await prompted(session, reader, 'hi')
  const all = fake.processes
  expect(all.length).toBeGreaterThan(1)
  await stage.sessions.close(session.id)
  await until(() => all.every((pid) => !runs(pid)))
})

test.concurrent.each([
  ['holds the pipe', { holdsPipe: true }],
  ['leads a session of its own', { ownSession: true, ignoresTerm: true }],
] as const)('a process of the agent that %s is gone after the agent was killed [28]', async (_what, grandchild) => {
  await using stage = new Stage()
  const fake = stage.fake({ prompts: { hi: [{ grandchild }, { chunk: 'Started.' }, { silent: true }] } })
  const { session, reader } = await stage.open()
  const promptId = await sent(session, 'hi')
  await until(() => reader.text === 'Started.')
  const all = fake.processes
  const agent = fake.log.find(({ start }) => start !== undefined)?.pid ?? 0
  process.kill(agent, 'SIGKILL')
  expect(await endOf(reader, promptId)).toMatchObject({ error: { code: 'AGENT_GONE' } })
  expect(all.length).toBe(2)
  await until(() => all.every((pid) => !runs(pid)))
})

test.concurrent('a wrapper and an agent that ends neither on EOF nor on SIGTERM are gone after their session is closed [29] [30]', async () => {
  await using stage = new Stage(undefined, undefined, pacedClock(5))
  const fake = stage.fake({ isWrapped: true, ignores: ['eof', 'SIGTERM'] })
  const { session, reader } = await stage.open()
  await prompted(session, reader, 'hi')
  expect(fake.processes.length).toBeGreaterThan(0)
  await stage.sessions.close(session.id)
  await until(() => fake.processes.length === 0)
})

test.concurrent('the stdin of an agent is never closed in the middle of its turn: it is cancelled first [30]', async () => {
  await using stage = new Stage()
  const fake = stage.fake({ prompts: { hi: [{ chunk: 'working' }, { untilCancel: true }] } })
  const { session, reader } = await stage.open()
  await sent(session, 'hi')
  await until(() => reader.text.includes('working'))
  await stage.sessions.close(session.id)
  const events = fake.log.flatMap(({ got, event }) => (got?.method === 'session/cancel' ? ['cancel'] : (event ?? [])))
  expect(events.indexOf('cancel')).toBeGreaterThanOrEqual(0)
  expect(events.indexOf('cancel')).toBeLessThan(events.indexOf('eof'))
})

test.concurrent('an agent that crashes at every start is held back, and says why [47]', async () => {
  await using stage = new Stage()
  const fake = stage.fake({ start: [{ stderr: 'bad configuration\n' }, { die: 1 }] })
  const { session, reader } = await stage.open()
  const codes: (string | undefined)[] = []
  for (const words of ['1', '2', '3', '4']) codes.push((await prompted(session, reader, words)).error?.code)
  expect(codes.filter((code) => code === 'AGENT_START_FAILED').length).toBeGreaterThanOrEqual(2)
  const last = await prompted(session, reader, '5')
  expect(last.error).toMatchObject({ code: 'AGENT_CRASHES' })
  expect(last.error?.message).toMatch(/^fake failed \d times in a row\. .*bad configuration/u)
  expect(fake.prompts).toEqual([])
})

test.concurrent('a start that takes long is cancelled at once [47]', async () => {
  await using stage = new Stage(undefined, undefined, pacedClock(5))
  stage.fake({ on: { initialize: [{ gate: 'never' }] } })
  stage.fake({}, { name: 'other' })
  const { session, reader } = await stage.open('acp:other')
  await prompted(session, reader, 'one')
  await stage.sessions.open(session.id, { ...stage.here, agent: 'acp:fake' })
  const promptId = await sent(session, 'two')
  await session.dispatch({ kind: 'cancel', queued: [] })
  expect(await endOf(reader, promptId)).toMatchObject({ stopReason: 'cancelled' })
})

test.concurrent('of more sessions than may live at once, those that are idle are ended, and all answer [52]', async () => {
  await using stage = new Stage()
  const fake = stage.fake({ capabilities: { loadSession: true } })
  const opened = []
  for (let at = 0; at < 20; at += 1) {
    const one = await stage.open()
    await prompted(one.session, one.reader, `hello ${at}`)
    opened.push(one)
    expect(fake.processes.length).toBeLessThanOrEqual(8)
  }
  const [first] = opened
  if (first === undefined) throw new Error('none was opened')
  await prompted(first.session, first.reader, 'again')
  expect(first.reader.text).toBe('echo: hello 0echo: again')
})

test.concurrent('a start after one that failed counts among those that live, and another waits for it [52]', async () => {
  await using stage = new Stage()
  const fails = [{ gate: 'fail' }, { die: 3 }] as const
  const later = [{ first: 1, name: 'second', moves: fails, later: [{ gate: 'never' }] }] as const
  const bad = stage.fake({ start: [{ first: 1, name: 'first', moves: [], later }] }, { name: 'bad' })
  const fake = stage.fake({ prompts: { hang: [{ silent: true }] } })
  const starts = () => bad.log.filter(({ start }) => start !== undefined).length
  const idle = await stage.open('acp:bad')
  await prompted(idle.session, idle.reader, 'hello')
  await Promise.all(Array.from({ length: 7 }, async () => sent((await stage.open()).session, 'hang')))
  await until(() => fake.prompts.length === 7)
  const failing = await stage.open('acp:bad')
  await until(() => starts() === 2)
  await sent(failing.session, 'joins the start')
  bad.open('fail')
  await until(() => starts() === 3)
  await sent(idle.session, 'again')
  await until(() => idle.reader.activities.some((activity) => activity?.step === 'waiting'))
  expect(starts()).toBe(3)
})
