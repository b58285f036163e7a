/** The restart law: how an agent comes back to a session, and what it gets of what it does not know. */
import { existsSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { until } from '../fixtures/process/running.ts'
import type { Reader } from '../sim/reader.ts'
import type { Case, Move } from '../fake-agent/case.ts'
import { OPENING, Stage, called, endOf, lastPrompt, notices, pacedClock, prompted, sent } from './stage.ts'

const LOADS = { capabilities: { loadSession: true } }
const RESUMES = { capabilities: { sessionCapabilities: { resume: {} } } }
const BOTH = { capabilities: { loadSession: true, sessionCapabilities: { resume: {} } } }
const works: Case = { prompts: { work: [{ chunk: 'half of it' }, { mark: 'half' }, { silent: true }] } }

function hows(reader: Reader): readonly string[] {
  return reader.entries.flatMap((entry) => (entry.kind === 'agent_session' ? [`${entry.generation} ${entry.how}`] : []))
}

test.concurrent('a stored session is opened, listed and read without its agent; the first prompt starts it', async () => {
  await using stage = new Stage()
  const fake = stage.fake(LOADS)
  const { session, reader } = await stage.open()
  await prompted(session, reader, 'hi')
  const after = await stage.killed(session.id)
  const starts = fake.log.filter(({ start }) => start !== undefined).length
  await stage.sessions.list({ limit: 10 })
  expect(after.reader.text).toBe('echo: hi')
  expect(fake.log.filter(({ start }) => start !== undefined)).toHaveLength(starts)
  await prompted(after.session, after.reader, 'next')
  expect(fake.prompts).toEqual(['hi', 'next'])
})

test.concurrent.each([
  ['resumes and loads', BOTH, [1, 0, 1]],
  ['resumes', RESUMES, [1, 0, 1]],
  ['loads', LOADS, [1, 1, 0]],
  ['can do neither [4]', {}, [2, 0, 0]],
] as const)(
  'after a clean end, an agent that %s comes back without repeating anything',
  async (_what, plan, opened) => {
    await using stage = new Stage()
    const fake = stage.fake(plan)
    const { session, reader } = await stage.open()
    await prompted(session, reader, 'one')
    await prompted(session, reader, 'two')
    const after = await stage.killed(session.id)
    expect(await prompted(after.session, after.reader, 'three')).toMatchObject({ stopReason: 'end_turn' })
    expect(called(fake, ...OPENING)).toEqual(opened)
    expect(fake.prompts).toEqual(['one', 'two', 'three'])
    expect(after.reader.text).toBe('echo: oneecho: twoecho: three')
    const isTold = lastPrompt(fake).length > 1
    expect(isTold).toBe(plan === undefined || Object.keys(plan).length === 0)
  },
)

test.concurrent('an agent that cannot reopen anything gets the transcript with the next prompt, and a notice says so [4] [40] [41]', async () => {
  await using stage = new Stage()
  const fake = stage.fake({
    prompts: {
      edit: [
        { update: { sessionUpdate: 'tool_call', toolCallId: 'c', title: 'Edit a.txt', kind: 'edit' } },
        {
          update: {
            sessionUpdate: 'tool_call_update',
            toolCallId: 'c',
            status: 'completed',
            content: [{ type: 'diff', path: '/a.txt', oldText: 'one\n', newText: 'one\ntwo\n' }],
          },
        },
        { chunk: 'ponder', role: 'thought' },
        { chunk: '改好了。' },
      ],
    },
  })
  const { session, reader } = await stage.open()
  await prompted(session, reader, 'edit')
  await prompted(session, reader, '谢谢', { type: 'image', data: 'x'.repeat(1_000_000), mimeType: 'image/png' })
  const after = await stage.killed(session.id)
  await prompted(after.session, after.reader, 'go on')
  const [told = '', typed] = lastPrompt(fake)
  expect(typed).toBe('go on')
  expect(told).toContain(
    'User: edit\nTool: Edit a.txt [completed] /a.txt +1 -0\nAssistant: 改好了。\nUser: 谢谢 [image]',
  )
  expect(told).not.toContain('ponder')
  expect(hows(after.reader)).toEqual(['1 new', '2 reseed'])
  expect(notices(after.reader)).toEqual([
    'fake could not reopen its session (it cannot reopen sessions). It was given 2 turns of this session.',
  ])
  // Nothing is told twice, and never as an instruction of the system.
  await prompted(after.session, after.reader, 'and on')
  expect(lastPrompt(fake)).toEqual(['and on'])
  expect(JSON.stringify(fake.received('session/new'))).not.toContain('systemPrompt')
  // The user's own entry stays as it was typed.
  const entry = after.reader.entries.findLast(
    (one) =>
      one.kind === 'message_chunk' &&
      one.role === 'user' &&
      one.content.type === 'text' &&
      one.content.text !== 'and on',
  )
  expect(entry).toMatchObject({ content: { text: 'go on' } })
})

test.concurrent('what it does not know goes into the system prompt, where an agent takes one, each time anew [41]', async () => {
  await using stage = new Stage()
  const fake = stage.fake({
    capabilities: { loadSession: true, sessionCapabilities: { resume: {}, systemPrompt: {} } },
    prompts: { lose: [{ chunk: 'lost' }, { forget: true }] },
  })
  const { session, reader } = await stage.open()
  for (const words of ['one', 'lose']) await prompted(session, reader, words)
  expect(fake.received('session/new')[0]).not.toHaveProperty('systemPrompt')
  const after = await stage.killed(session.id)
  await prompted(after.session, after.reader, 'go on')
  expect(lastPrompt(fake)).toEqual(['go on'])
  const { systemPrompt } = fake.received('session/new')[1] ?? {}
  expect(systemPrompt).toEqual({ mode: 'append', content: [{ type: 'text', text: expect.any(String) as string }] })
  expect(JSON.stringify(systemPrompt)).toContain('User: one\\nAssistant: echo: one\\nUser: lose\\nAssistant: lost')
  expect(hows(after.reader)).toEqual(['1 new', '2 reseed'])
  // The agent need not have stored it: it is the same, to the byte, when the conversation is reopened.
  const last = await stage.killed(session.id)
  await prompted(last.session, last.reader, 'and on')
  expect(fake.received('session/resume').at(-1)).toMatchObject({ sessionId: 'fake-2', systemPrompt })
  expect(lastPrompt(fake)).toEqual(['and on'])
})

test.concurrent('an agent that dies before it reads the prompt, after it, and while idle [26]', async () => {
  await using stage = new Stage()
  const fake = stage.fake({ ...BOTH, isProcess: true, prompts: { die: [{ chunk: 'uh' }, { die: 1 }] } })
  const { session, reader } = await stage.open()
  const gone = await prompted(session, reader, 'die')
  expect(gone).toMatchObject({ stopReason: 'error', error: { code: 'AGENT_GONE' } })
  expect(reader.text).toBe('uh')
  // After the prompt: it is never sent again by itself.
  expect(fake.prompts).toEqual(['die'])
  expect(await prompted(session, reader, 'next')).toMatchObject({ stopReason: 'end_turn' })
  // While idle: nobody notices, and the next prompt starts it again.
  const pids = fake.processes
  for (const pid of pids) process.kill(pid, 'SIGKILL')
  // Its parent knows of its end as soon as the kernel has forgotten it.
  await until(() => pids.every((pid) => !existsSync(`/proc/${pid}`)))
  expect(await prompted(session, reader, 'last')).toMatchObject({ stopReason: 'end_turn' })
  expect(fake.prompts).toEqual(['die', 'next', 'last'])
})

test.concurrent('a prompt that could not be written goes to a fresh process, once [26]', async () => {
  await using stage = new Stage()
  const fake = stage.fake({
    ...BOTH,
    prompts: { one: [{ chunk: 'one' }, { answer: { stopReason: 'end_turn' } }, { deafen: true }, { mark: 'deaf' }] },
  })
  const { session, reader } = await stage.open()
  await prompted(session, reader, 'one')
  await fake.until(({ mark }) => mark === 'deaf')
  expect(await prompted(session, reader, 'two')).toMatchObject({ stopReason: 'end_turn' })
  expect(reader.text).toBe('oneecho: two')
  expect(fake.prompts).toEqual(['one', 'two'])
  expect(fake.processes).toHaveLength(1)
})

test.concurrent('a prompt that was written and never read is not sent again: whether the agent read it cannot be known [26]', async () => {
  await using stage = new Stage(undefined, 50)
  const fake = stage.fake({ ...LOADS, isProcess: true })
  const { session, reader } = await stage.open()
  await prompted(session, reader, 'one')
  const [pid = 0] = fake.processes
  process.kill(pid, 'SIGSTOP')
  const promptId = await sent(session, 'two')
  // It is quiet in a prompt only once that was written.
  await until(() => reader.activities.at(-1)?.state === 'quiet')
  process.kill(pid, 'SIGKILL')
  expect(await endOf(reader, promptId)).toMatchObject({ stopReason: 'error', error: { code: 'AGENT_GONE' } })
  expect(await prompted(session, reader, 'three')).toMatchObject({ stopReason: 'end_turn' })
  expect(fake.prompts).toEqual(['one', 'three'])
})

test.concurrent('a call that ran when the agent died may have run [26]', async () => {
  const call: Move = {
    update: { sessionUpdate: 'tool_call', toolCallId: 'c', title: 'rm -r x', status: 'in_progress' },
  }
  await using stage = new Stage()
  stage.fake({ prompts: { hi: [call, { die: 1 }] } })
  const { session, reader } = await stage.open()
  await prompted(session, reader, 'hi')
  const patched = reader.entries.find(({ kind }) => kind === 'tool_call_patched')
  expect(JSON.stringify(patched)).toContain('it may have run')
})

test.concurrent.each([
  ['loads', LOADS],
  ['resumes', RESUMES],
  ['can do neither', {}],
] as const)(
  'the server is killed in the middle of a turn of an agent that %s: one end, nothing sent twice, and it gets what it lost [27]',
  async (_what, plan) => {
    await using stage = new Stage()
    const fake = stage.fake({ ...plan, ...works, keeps: 'prompts' })
    const { session, reader } = await stage.open()
    await sent(session, 'work')
    await until(() => reader.text.includes('half of it'))
    const after = await stage.killed(session.id)
    expect(after.session.state).toMatchObject({ phase: 'idle', recentPrompts: [{ stopReason: 'interrupted' }] })
    expect(fake.processes).toEqual([])
    expect(after.reader.text).toBe('half of it')
    await prompted(after.session, after.reader, 'go on')
    expect(fake.prompts).toEqual(['work', 'go on'])
    expect(lastPrompt(fake).join('\n')).toContain('half of it')
    expect(after.reader.text).toBe('half of itecho: go on')
  },
)

test.concurrent('a permission without an answer waits, and after kill -9 its turn is interrupted and nothing is offered again [18]', async () => {
  await using stage = new Stage()
  stage.fake({ prompts: { hi: [{ permission: {} }] } })
  const { session, reader } = await stage.open()
  await sent(session, 'hi')
  await until(() => reader.view?.questions.length === 1)
  const after = await stage.killed(session.id)
  expect(after.reader.view).toMatchObject({
    phase: 'idle',
    questions: [],
    recentPrompts: [{ stopReason: 'interrupted' }],
  })
  expect(after.reader.kinds).toContain('permission_resolved')
})

test.concurrent.each(['before', 'after', 'split'] as const)(
  'a replay that comes %s the response is swallowed, and nothing is doubled [31] [32]',
  async (when) => {
    // Silence is the only end of such a replay: on a busy machine its updates are far apart.
    await using stage = new Stage()
    const fake = stage.fake(LOADS, { quirks: { replayAfterResponseMs: 1_000 } })
    const { session, reader } = await stage.open()
    for (const words of ['one', 'two', 'three']) await prompted(session, reader, words)
    fake.becomes({ ...LOADS, replay: { when, everyMs: 10 } })
    const after = await stage.killed(session.id)
    await prompted(after.session, after.reader, 'four')
    expect(after.reader.text).toBe('echo: oneecho: twoecho: threeecho: four')
    expect(lastPrompt(fake)).toEqual(['four'])
    expect(hows(after.reader)).toEqual(['1 new', '1 load'])
  },
)

test.concurrent.each(['doubled', 'reversed', 'merged', 'no ids', 'no thoughts', 'no calls', 'pseudo users'] as const)(
  'a replay that is %s imports nothing that was said before [33]',
  async (change) => {
    await using stage = new Stage()
    const fake = stage.fake(LOADS, { quirks: { pseudoUser: ['<session_context>', '[Function Response'] } })
    const { session, reader } = await stage.open()
    for (const words of ['one', 'two']) await prompted(session, reader, words)
    fake.becomes({ ...LOADS, replay: { changes: [change] } })
    const after = await stage.killed(session.id)
    await prompted(after.session, after.reader, 'three')
    expect(after.reader.text).toBe('echo: oneecho: twoecho: three')
    expect(after.reader.entries.some((entry) => 'origin' in entry)).toBe(false)
    expect(lastPrompt(fake)).toEqual(['three'])
  },
)

test.concurrent('an empty replay is no memory: the agent gets the transcript [33]', async () => {
  await using stage = new Stage()
  const fake = stage.fake(LOADS)
  const { session, reader } = await stage.open()
  await prompted(session, reader, 'one')
  fake.becomes({ ...LOADS, replay: { changes: ['empty'] } })
  const after = await stage.killed(session.id)
  await prompted(after.session, after.reader, 'two')
  expect(lastPrompt(fake)[0]).toContain('User: one')
  expect(hows(after.reader)).toEqual(['1 new', '2 reseed'])
})

test.concurrent.each([
  ['-32002', { code: -32_002, message: 'no such session' }, ['1 new', '2 reseed']],
  ['its own words for it', { code: -32_603, message: 'Internal error: no rollout found' }, ['1 new', '2 reseed']],
] as const)('a load that is refused with %s is replaced by the transcript, visibly [34]', async (_how, error, how) => {
  await using stage = new Stage()
  const fake = stage.fake(LOADS, { quirks: { notFound: [{ text: 'no rollout found' }] } })
  const { session, reader } = await stage.open()
  await prompted(session, reader, 'one')
  fake.becomes({ ...LOADS, on: { 'session/load': [{ fail: error }] } })
  const after = await stage.killed(session.id)
  expect(await prompted(after.session, after.reader, 'two')).toMatchObject({ stopReason: 'end_turn' })
  expect(hows(after.reader)).toEqual(how)
  expect(notices(after.reader)[0]).toContain(error.message)
})

test.concurrent('a load that fails otherwise is tried once more in a fresh process, then replaced [34]', async () => {
  await using stage = new Stage()
  const fake = stage.fake(LOADS)
  const { session, reader } = await stage.open()
  await prompted(session, reader, 'one')
  fake.becomes({ ...LOADS, on: { 'session/load': [{ fail: { code: -32_603, message: 'hiccup' } }] } })
  const after = await stage.killed(session.id)
  await prompted(after.session, after.reader, 'two')
  expect(called(fake, 'session/load')).toEqual([2])
  expect(notices(after.reader)[0]).toContain('hiccup')
})

test.concurrent('a load that answers null is a load; a missing login is reported and loses nothing [34]', async () => {
  await using stage = new Stage()
  const fake = stage.fake(LOADS)
  const { session, reader } = await stage.open()
  await prompted(session, reader, 'one')
  fake.becomes({ ...LOADS, on: { 'session/load': [{ answer: null }] } })
  const first = await stage.killed(session.id)
  expect(await prompted(first.session, first.reader, 'two')).toMatchObject({ stopReason: 'end_turn' })
  fake.becomes({ ...LOADS, on: { 'session/load': [{ fail: { code: -32_000, message: 'log in' } }] } })
  const second = await stage.killed(session.id)
  const login = await prompted(second.session, second.reader, 'three')
  expect(login).toMatchObject({ stopReason: 'error', error: { code: 'AGENT_LOGIN_NEEDED' } })
  fake.becomes(LOADS)
  expect(await prompted(second.session, second.reader, 'four')).toMatchObject({ stopReason: 'end_turn' })
})

test.concurrent('a session that another program has open is waited for, then told, and nothing is lost [34]', async () => {
  await using stage = new Stage(undefined, undefined, pacedClock(10))
  const fake = stage.fake(LOADS, { quirks: { busy: [{ text: 'active writer' }] } })
  const { session, reader } = await stage.open()
  await prompted(session, reader, 'one')
  const refusal = { code: -32_600, message: 'thread has an active writer' }
  fake.becomes({ ...LOADS, on: { 'session/load': [{ fail: refusal }] } })
  const after = await stage.killed(session.id)
  const busy = await prompted(after.session, after.reader, 'two')
  expect(busy).toMatchObject({ stopReason: 'error', error: { code: 'AGENT_SESSION_BUSY' } })
  expect(fake.received('session/load').length).toBeGreaterThan(1)
  fake.becomes(LOADS)
  expect(await prompted(after.session, after.reader, 'three')).toMatchObject({ stopReason: 'end_turn' })
})

test.concurrent('a resume that replays all the same is swallowed [35]', async () => {
  await using stage = new Stage()
  const fake = stage.fake(RESUMES)
  const { session, reader } = await stage.open()
  await prompted(session, reader, 'one')
  fake.becomes({ ...RESUMES, replay: { onResume: true } })
  const after = await stage.killed(session.id)
  await prompted(after.session, after.reader, 'two')
  expect(after.reader.text).toBe('echo: oneecho: two')
})

test.concurrent('what the agent lost of its last turn is sent once [37]', async () => {
  await using stage = new Stage()
  const fake = stage.fake({ ...LOADS, ...works })
  const { session, reader } = await stage.open()
  await prompted(session, reader, 'one')
  await sent(session, 'work')
  await until(() => reader.text.includes('half of it'))
  const first = await stage.killed(session.id)
  const [theirs = ''] = fake.sessions
  fake.forgetTurns(theirs, 1)
  await prompted(first.session, first.reader, 'two')
  expect(lastPrompt(fake)[0]).toContain('User: work')
  expect(lastPrompt(fake)[0]).toContain('half of it')
  const second = await stage.killed(session.id)
  await prompted(second.session, second.reader, 'three')
  expect(lastPrompt(fake)).toEqual(['three'])
})

test.concurrent('an answer that the agent had not stored yet when it was killed is sent to it, with the turn that was cut [37]', async () => {
  await using stage = new Stage()
  const fake = stage.fake({ ...LOADS, ...works })
  const { session, reader } = await stage.open()
  for (const words of ['one', 'two']) await prompted(session, reader, words)
  await sent(session, 'work')
  await until(() => reader.text.includes('half of it'))
  const after = await stage.killed(session.id)
  const [theirs = ''] = fake.sessions
  for (const prompt of ['two', 'work']) fake.forgetAnswer(theirs, prompt)
  await prompted(after.session, after.reader, 'three')
  const told = lastPrompt(fake)[0] ?? ''
  for (const words of ['User: two\nAssistant: echo: two', 'half of it']) expect(told).toContain(words)
  expect(told).not.toContain('echo: one')
  const later = await stage.killed(session.id)
  await prompted(later.session, later.reader, 'four')
  expect(lastPrompt(fake)).toEqual(['four'])
})

test.concurrent('a session that never had a prompt begins anew, without a word', async () => {
  await using stage = new Stage()
  const fake = stage.fake({ ...LOADS, dropsUnprompted: true })
  const { session, reader } = await stage.open()
  await until(() => reader.kinds.includes('agent_session'))
  const after = await stage.killed(session.id)
  await prompted(after.session, after.reader, 'one')
  expect(called(fake, ...OPENING)).toEqual([2, 0, 0])
  expect(notices(after.reader)).toEqual([])
  expect(hows(after.reader)).toEqual(['1 new', '2 new'])
})

test.concurrent('a session that changes its agent and comes back has a conversation of its own each time, and the transcript is whole [55]', async () => {
  await using stage = new Stage()
  const fake = stage.fake(BOTH)
  const other = stage.fake(BOTH, { name: 'other' })
  const { session, reader } = await stage.open()
  await prompted(session, reader, 'one')
  await stage.sessions.open(session.id, { ...stage.here, agent: 'acp:other' })
  await prompted(session, reader, 'two')
  expect(lastPrompt(other)[0]).toContain('User: one')
  await stage.sessions.open(session.id, { ...stage.here, agent: 'acp:fake' })
  await prompted(session, reader, 'three')
  expect(lastPrompt(fake)[0]).toContain('User: two')
  expect(hows(reader)).toEqual(['1 new', '2 reseed', '3 reseed'])
  expect(reader.text).toBe('echo: oneecho: twoecho: three')
  await until(() => other.processes.length === 0)
})

test.concurrent('a directory that is a link is given to the agent as the user wrote it [53]', async () => {
  await using stage = new Stage()
  const fake = stage.fake(LOADS)
  const link = join(stage.directory, 'link')
  symlinkSync(stage.directory, link)
  const session = await stage.sessions.create({ ...stage.here, cwd: link, agent: 'acp:fake' })
  await until(() => fake.received('session/new').length === 1)
  expect(fake.received('session/new')[0]).toMatchObject({ cwd: link })
  expect(session.existing.cwd).toBe(link)
})

test.concurrent('a session whose directory is gone is read, and a prompt says what is missing [53]', async () => {
  await using stage = new Stage()
  stage.fake(LOADS)
  const { session, reader } = await stage.open()
  await prompted(session, reader, 'one')
  const gone = await stage.killed(session.id)
  rmSync(stage.directory, { recursive: true })
  expect(gone.reader.text).toBe('echo: one')
  const end = await prompted(gone.session, gone.reader, 'two')
  expect(end.error?.message).toContain(`${stage.directory} is not a directory`)
})

test.concurrent('the transcript that an agent gets fits the window of its model, if the agent has named that [40]', async () => {
  const usage = { sessionUpdate: 'usage_update', used: 100, size: 2_000 }
  const long = 'Many words. '.repeat(200)
  await using stage = new Stage()
  const fake = stage.fake({ prompts: { '*': [{ update: usage }, { chunk: long }] } })
  const first = await stage.open()
  for (const words of ['one', 'two']) await prompted(first.session, first.reader, words)
  const { session, reader } = await stage.killed(first.session.id)
  await prompted(session, reader, 'three')
  const [told = ''] = lastPrompt(fake)
  expect(Buffer.byteLength(told)).toBeLessThan((2_000 / 4) * 3 + 100)
  expect(told).toContain('1 older turns are left out')
})
