/** What the fields of a row of quirks do, each with an agent that needs it, and that agent without it. */
import { expect, test } from 'vitest'
import { terminalLogin } from '../../src/adapters/agent/external/probe/terminal-login.ts'
import { type Quirks, SAFE } from '../../src/adapters/agent/external/quirks.ts'
import { endsOwnTurn } from '../../src/adapters/agent/external/turn/own-turn.ts'
import type { Case, Move } from '../fake-agent/case.ts'
import { until } from '../fixtures/process/running.ts'
import { OPENING, Stage, called, lastPrompt, prompted, sent } from './stage.ts'

const says = (...moves: readonly Move[]): Case => ({ prompts: { '*': moves } })

const turns: readonly [field: string, quirks: Partial<Quirks>, plan: Case, without: unknown, withIt: unknown][] = [
  ['emptyEndIsError', { emptyEndIsError: true }, says({ wait: 0 }), ['end_turn', ''], ['error', '']],
  [
    'errorAsText',
    { errorAsText: ['stream disconnected'] },
    says({ chunk: 'stream disconnected: 500' }),
    ['end_turn', 'stream disconnected: 500'],
    ['error', 'stream disconnected: 500'],
  ],
  [
    'textNoise',
    { textNoise: ['[MODE_UPDATE]'] },
    says({ chunk: '[MODE_UPDATE] x', messageId: 'a' }, { chunk: 'yes', messageId: 'b' }),
    ['end_turn', '[MODE_UPDATE] xyes'],
    ['end_turn', 'yes'],
  ],
]

test.concurrent.for(turns)(
  '%s decides how a turn ends and what it has said',
  async ([, quirks, plan, without, withIt]) => {
    await using stage = new Stage()
    stage.fake(plan, { name: 'plain' })
    stage.fake(plan, { name: 'odd', quirks })
    for (const [agent, expected] of [
      ['acp:plain', without],
      ['acp:odd', withIt],
    ] as const) {
      const { session, reader } = await stage.open(agent)
      const { stopReason } = await prompted(session, reader, 'go')
      expect([stopReason, reader.text]).toEqual(expected)
    }
  },
)

test.concurrent('lateMs keeps a turn open for what comes after its response', async () => {
  await using stage = new Stage()
  const plan = says({ chunk: 'on time, ' }, { answer: { stopReason: 'end_turn' } }, { wait: 50 }, { chunk: 'late' })
  stage.fake(plan, { quirks: { lateMs: 1_000 } })
  const { session, reader } = await stage.open()
  await prompted(session, reader, 'go')
  expect(reader.text).toBe('on time, late')
  const kinds = reader.entries.map(({ kind }) => kind)
  expect(kinds.lastIndexOf('message_chunk')).toBeLessThan(kinds.indexOf('turn_ended'))
})

test.concurrent('keepTitle keeps the first title of a call', async () => {
  await using stage = new Stage()
  const update = (title: string, kind: string): Move => ({ update: { sessionUpdate: kind, toolCallId: 'c', title } })
  const plan = says(update('Run the tests', 'tool_call'), update('bash', 'tool_call_update'))
  stage.fake(plan, { quirks: { keepTitle: true } })
  const { session, reader } = await stage.open()
  await prompted(session, reader, 'go')
  expect(JSON.stringify(reader.entries)).toContain('Run the tests')
  expect(JSON.stringify(reader.entries)).not.toContain('bash')
})

test.concurrent('reloadAfter gives the next prompt a fresh process', async () => {
  await using stage = new Stage()
  const plan: Case = {
    capabilities: { loadSession: true },
    prompts: { go: [{ fail: { code: -32603, message: 'x' } }] },
  }
  const plain = stage.fake(plan, { name: 'plain' })
  const odd = stage.fake(plan, { name: 'odd', quirks: { reloadAfter: [{ code: -32603 }] } })
  for (const agent of ['acp:plain', 'acp:odd']) {
    const { session, reader } = await stage.open(agent)
    for (const words of ['go', 'on']) await prompted(session, reader, words)
  }
  const starts = [plain, odd].map(({ log }) => log.filter(({ start }) => start !== undefined).length)
  expect(starts).toEqual([1, 2])
})

const BOTH = { loadSession: true, sessionCapabilities: { resume: {} } }
const reopened: readonly [quirks: Partial<Quirks>, hasPrompt: boolean, calls: readonly number[]][] = [
  [{}, true, [1, 0, 1]],
  [{ useResume: false }, true, [1, 1, 0]],
  [{ useResume: false, useLoad: false }, true, [2, 0, 0]],
  [{}, false, [2, 0, 0]],
  [{ unpromptedLoads: true }, false, [1, 0, 1]],
]

test.concurrent.for(reopened)(
  '%o, prompted before: %s: new, load and resume are called %o times',
  async ([quirks, hasPrompt, calls]) => {
    await using stage = new Stage()
    const fake = stage.fake({ capabilities: BOTH }, { quirks })
    const { session, reader } = await stage.open()
    await fake.until(({ got }) => got?.method === 'session/new')
    if (hasPrompt) await prompted(session, reader, 'one')
    else await until(() => reader.entries.some(({ kind }) => kind === 'agent_session'))
    const after = await stage.killed(session.id)
    await prompted(after.session, after.reader, 'two')
    expect(called(fake, ...OPENING)).toEqual(calls)
  },
)

const cuts: readonly [keeps: Quirks['cutKeeps'], before: string, isSent: boolean][] = [
  ['nothing', 'half', true],
  ['prompt', 'half', true],
  ['partial', 'half', false],
  ['nothing', '', true],
  ['prompt', '', false],
]

test.concurrent.for(cuts)(
  'cutKeeps = %s, and the agent had said “%s”: the cut turn is sent with the next prompt: %s',
  async ([cutKeeps, chunk, isSent]) => {
    await using stage = new Stage()
    const plan = { capabilities: { sessionCapabilities: { resume: {} } } }
    const cut: readonly Move[] = [...(chunk === '' ? [] : [{ chunk }]), { mark: 'cut' }, { silent: true }]
    const fake = stage.fake({ ...plan, prompts: { work: cut } }, { quirks: { cutKeeps } })
    const { session, reader } = await stage.open()
    await sent(session, 'work')
    await fake.until(({ mark }) => mark === 'cut')
    await until(() => reader.text.includes(chunk))
    const after = await stage.killed(session.id)
    await prompted(after.session, after.reader, 'two')
    expect(lastPrompt(fake)[0]?.includes('User: work')).toBe(isSent)
  },
)

test.concurrent('useFork = false has a fork told what was said', async () => {
  await using stage = new Stage()
  const capabilities = { loadSession: true, sessionCapabilities: { fork: {} } }
  const fake = stage.fake({ capabilities }, { quirks: { useFork: false } })
  const { session, reader } = await stage.open()
  await prompted(session, reader, 'one')
  const fork = await stage.reopened(await stage.sessions.fork(session.id))
  await prompted(fork.session, fork.reader, 'on')
  expect(called(fake, 'session/fork', 'session/new')).toEqual([0, 2])
})

test.concurrent('blockingRequests are answered as their agent expects, and others refused', async () => {
  await using stage = new Stage()
  const plan = says({ request: 'cursor/ask_question', params: { questions: [] } }, { request: 'cursor/other' })
  const fake = stage.fake(plan, { quirks: { blockingRequests: ['cursor/ask_question'] } })
  const { session, reader } = await stage.open()
  await prompted(session, reader, 'go')
  const answers = fake.log.flatMap(({ got }) => (got?.method === undefined && got !== undefined ? [got] : []))
  expect(answers).toMatchObject([{ result: { outcome: { outcome: 'cancelled' } } }, { error: { code: -32_601 } }])
})

test.each([
  ['append', ['acp.js', 'acp', '--login']],
  ['replace', ['acp.js', '--login']],
] as const)('terminalArgs = %s says what becomes of its own arguments', (terminalArgs, args) => {
  const quirks = { ...SAFE, terminalArgs }
  const launch = { name: 'x', program: '/bin/node', args: ['acp.js', 'acp'], env: {}, quirks, idleMinutes: 1 }
  const method = { id: 'tty', name: 'tty', type: 'terminal', raw: { args: ['--login'] } }
  expect(terminalLogin({ ...launch, mcp: 'front' }, method)?.args).toEqual(args)
})

test.each([
  ['claude_origin', { sessionUpdate: 'usage_update', _meta: { '_claude/origin': 'task' } }],
  [
    'codex_thread_status',
    { sessionUpdate: 'session_info_update', _meta: { codex: { threadStatus: { type: 'idle' } } } },
  ],
  ['pi_running', { sessionUpdate: 'session_info_update', _meta: { piAcp: { running: false } } }],
] as const)('turnSignals: %s ends work of its own, and no other update does', (signal, update) => {
  expect(endsOwnTurn(update, [signal])).toBe(true)
  expect(endsOwnTurn(update, [])).toBe(false)
  expect(endsOwnTurn({ ...update, _meta: {} }, [signal])).toBe(false)
})
