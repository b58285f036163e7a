/** Plain turns of an external agent: what it says is stored as it came, whatever it does wrong. The numbers are cases of its law. */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { Entry } from '../../src/session/domain/entries.ts'
import { until } from '../fixtures/process/running.ts'
import type { Reader } from '../sim/reader.ts'
import type { Move } from '../fake-agent/case.ts'
import { Stage, endOf, notices, pacedClock, prompted, sent } from './stage.ts'

/** Messages of the agent as a user reads them: text by message. */
function messages(entries: readonly Entry[]): readonly string[] {
  const byId = new Map<string, string>()
  for (const entry of entries) {
    if (entry.kind !== 'message_chunk' || entry.role === 'user' || entry.content.type !== 'text') continue
    const words = byId.get(entry.messageId) ?? `${entry.role}: `
    byId.set(entry.messageId, words + entry.content.text)
  }
  return [...byId.values()]
}

const withMoves = (...moves: readonly Move[]) => ({ prompts: { hi: moves } })
const update = (sessionUpdate: string, fields: object): Move => ({ update: { sessionUpdate, ...fields } })

function patches(reader: Reader, id: string) {
  return reader.entries.flatMap((entry) => {
    if (entry.kind === 'tool_call' && entry.toolCallId === id) return [entry.call]
    return entry.kind === 'tool_call_patched' && entry.toolCallId === id ? [entry.patch] : []
  })
}

test.concurrent('text is the same live, in a load and after kill -9, however its bytes arrive [1]', async () => {
  await using stage = new Stage()
  const fake = stage.fake(
    withMoves(
      { pieces: 3, moves: [{ chunk: 'Grüße, 世界 — ' }, { chunk: 'in pieces.' }] },
      { glue: [{ chunk: ' The end.' }, { answer: { stopReason: 'end_turn' } }] },
    ),
  )
  const { session, reader } = await stage.open()
  expect(await prompted(session, reader, 'hi')).toMatchObject({ stopReason: 'end_turn' })
  const text = 'Grüße, 世界 — in pieces. The end.'
  expect(reader.text).toBe(text)
  expect((await stage.join(session)).text).toBe(text)
  const after = await stage.killed(session.id)
  expect(after.reader.text).toBe(text)
  await until(() => fake.processes.length === 0)
})

// Alone, because it keeps this process so busy that the clocks of the others would run out.
test('an agent that is faster than the disk waits for it, and everything is stored [2]', async () => {
  const flood = { repeat: 20_000, moves: [{ chunk: `{n} ${'.'.repeat(100)} ` }] }
  await using stage = new Stage()
  const plan = withMoves({ chunk: 'Begin. ' }, flood, { mark: 'all written' })
  const fake = stage.fake({ ...plan, isProcess: true })
  const { session, reader } = await stage.open()
  const promptId = await sent(session, 'hi')
  await until(() => reader.text.includes('Begin'))
  stage.disk.hold()
  await until(() => stage.disk.waiting > 0)
  await setTimeout(500)
  expect(fake.log.some(({ mark }) => mark === 'all written')).toBe(false)
  stage.disk.release()
  await endOf(reader, promptId)
  expect(reader.text).toContain('20000 ')
  expect(reader.text.length).toBeGreaterThan(2_000_000)
  expect(reader.early).toEqual([])
})

test.concurrent('of a turn that has lost words no later ones are stored', async () => {
  await using stage = new Stage()
  const moves = [{ chunk: 'one ' }, { gate: 'two' }, { chunk: 'two ' }, { gate: 'three' }, { chunk: 'three ' }] as const
  const fake = stage.fake({ ...withMoves(...moves), on: { 'session/cancel': [] } })
  const { session, reader } = await stage.open()
  const promptId = await sent(session, 'hi')
  await until(() => reader.text === 'one ')
  stage.disk.next = 'unwritable'
  fake.open('two')
  await until(() => stage.disk.next === 'none')
  fake.open('three')
  expect(await endOf(reader, promptId)).toMatchObject({ error: { code: 'JOURNAL_IO' } })
  expect(await prompted(session, reader, 'next')).toMatchObject({ stopReason: 'end_turn' })
  expect(reader.text).toBe('one echo: next')
})

test.concurrent('words that come after the response belong to the turn that has ended [3]', async () => {
  await using stage = new Stage()
  stage.fake(
    withMoves({ chunk: 'in time' }, { answer: { stopReason: 'end_turn' } }, { wait: 300 }, { chunk: 'too late' }),
  )
  const { session, reader } = await stage.open()
  await prompted(session, reader, 'hi')
  await until(() => reader.text.includes('too late'))
  const late = reader.entries.find((entry) => entry.kind === 'message_chunk' && entry.messageId.endsWith('late'))
  expect(late).toMatchObject({ messageId: 't1-late' })
  expect(reader.entries.filter(({ kind }) => kind === 'turn_started')).toHaveLength(1)
})

test.concurrent('an unknown update is kept at its place, one that is far too large only by its kind [12]', async () => {
  await using stage = new Stage()
  stage.fake(
    withMoves(
      { chunk: 'before' },
      update('_acme/weather', { sky: 'blue' }),
      update('agent_message_chunk', { content: 'no block' }),
      update('_acme/huge', { data: 'x'.repeat(1024 * 1024) }),
      update('agent_message_chunk', {
        content: { type: 'text', text: 'after', _meta: { big: 'x'.repeat(1024 * 1024) } },
      }),
    ),
  )
  const { session, reader } = await stage.open()
  await prompted(session, reader, 'hi')
  const told = reader.entries.flatMap((entry) =>
    entry.kind === 'foreign'
      ? [entry.update]
      : entry.kind === 'message_chunk' && entry.role === 'agent'
        ? [entry.content]
        : [],
  )
  expect(told).toMatchObject([
    { text: 'before' },
    { sessionUpdate: '_acme/weather', sky: 'blue' },
    { sessionUpdate: 'agent_message_chunk', content: 'no block' },
    { sessionUpdate: '_acme/huge' },
    { text: 'after' },
  ])
  expect(JSON.stringify(told).length).toBeLessThan(10_000)
  expect((await stage.join(session)).entries).toEqual(reader.entries)
})

test.concurrent('messages begin where the role or the id changes, live and in a load [13]', async () => {
  await using stage = new Stage()
  stage.fake(
    withMoves(
      { chunk: 'hm', role: 'thought', messageId: 'a' },
      { chunk: 'One', messageId: 'a' },
      { chunk: ' more', messageId: 'a' },
      { chunk: 'Two', messageId: 'b' },
      { chunk: ' and no id' },
      update('tool_call', { toolCallId: 'c', title: 'Look', status: 'completed' }),
      { chunk: 'Three' },
    ),
  )
  const { session, reader } = await stage.open()
  await prompted(session, reader, 'hi')
  const told = ['thought: hm', 'agent: One more', 'agent: Two and no id', 'agent: Three']
  expect(messages(reader.entries)).toEqual(told)
  expect(messages((await stage.join(session)).entries)).toEqual(told)
})

test.concurrent('a call that was never announced, announced twice or never ended is one call, and is closed with its turn [14]', async () => {
  await using stage = new Stage()
  stage.fake(
    withMoves(
      update('tool_call_update', { toolCallId: 'unheard', status: 'in_progress', title: 'Suddenly' }),
      update('tool_call', { toolCallId: 'twice', title: 'Look', kind: 'read' }),
      update('tool_call', { toolCallId: 'twice', title: 'Look', status: 'completed' }),
    ),
  )
  const { session, reader } = await stage.open()
  await prompted(session, reader, 'hi')
  expect(patches(reader, 'unheard')).toMatchObject([{ title: 'Suddenly', status: 'in_progress' }, { status: 'failed' }])
  expect(patches(reader, 'twice')).toMatchObject([{ title: 'Look', kind: 'read' }, { status: 'completed' }])
})

test.concurrent("the output of an agent's own terminal is one bounded text, seen while it grows [15]", async () => {
  const output = (data: string): Move =>
    update('tool_call_update', { toolCallId: 'c', _meta: { terminal_output_delta: { terminal_id: 't', data } } })
  await using stage = new Stage()
  stage.fake(
    withMoves(
      update('tool_call', {
        toolCallId: 'c',
        title: 'make',
        content: [{ type: 'terminal', terminalId: 't' }],
        _meta: { terminal_info: { terminal_id: 't' } },
      }),
      { repeat: 1_000, moves: [output(`{n} ${'x'.repeat(200)}\n`)] },
      update('tool_call_update', {
        toolCallId: 'c',
        status: 'completed',
        _meta: { terminal_exit: { terminal_id: 't', exit_code: 2 } },
      }),
    ),
  )
  const { session, reader } = await stage.open()
  await prompted(session, reader, 'hi')
  const shown = patches(reader, 'c').flatMap(({ content = [] }) =>
    content.flatMap((one) => (one.type === 'terminal' ? [one.output ?? ''] : [])),
  )
  expect(shown.at(-1)).toContain('1000 xxx')
  expect(shown.at(-1)).toContain('exit code 2')
  expect(Math.max(...shown.map((one) => one.length))).toBeLessThan(80_000)
  expect(shown.length).toBeLessThan(30)
})

test.concurrent.each([
  ['end_turn', [{ answer: { stopReason: 'end_turn' } }]],
  ['an error', [{ fail: { code: -32_603, message: 'aborted' } }]],
  ['more words', [{ chunk: 'as I was saying' }, { answer: { stopReason: 'cancelled' } }]],
] as const)('a cancel that is answered with %s ends the turn as cancelled [24]', async (_how, moves) => {
  await using stage = new Stage()
  stage.fake({ ...withMoves({ chunk: 'working' }, { untilCancel: true }), on: { 'session/cancel': moves } })
  const { session, reader } = await stage.open()
  const promptId = await sent(session, 'hi')
  await until(() => reader.text.includes('working'))
  await session.dispatch({ kind: 'cancel', queued: [] })
  expect(await endOf(reader, promptId)).toMatchObject({ stopReason: 'cancelled' })
  expect(await prompted(session, reader, 'next')).toMatchObject({ stopReason: 'end_turn' })
  expect(reader.entries.filter(({ kind }) => kind === 'turn_started')).toHaveLength(2)
})

const asks: Move = {
  permission: {
    toolCall: { toolCallId: 'c', title: 'Delete everything' },
    options: [
      { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
      { optionId: 'no', name: 'No', kind: 'reject_once' },
    ],
  },
}

test.concurrent.each(['cancelled', 'end_turn'])(
  'a turn that ends as %s after a refusal says that this is why [25]',
  async (stopReason) => {
    await using stage = new Stage()
    stage.fake(withMoves(asks, { answer: { stopReason } }))
    const { session, reader } = await stage.open()
    const promptId = await sent(session, 'hi')
    await until(() => reader.view?.questions.length === 1)
    await session.dispatch({ kind: 'answer', requestId: reader.view?.questions[0]?.requestId ?? '', optionId: 'no' })
    expect(await endOf(reader, promptId)).toMatchObject({ stopReason })
    expect(notices(reader)).toEqual(['fake ended the turn because of the refusal.'])
  },
)

test.concurrent('what is no message on stdout is skipped [43]', async () => {
  await using stage = new Stage()
  stage.fake(
    withMoves({ raw: 'Loading…\n' }, { raw: '{"half":\n' }, { raw: '\u0000\u0001[1,2]\n' }, { chunk: 'Hello.' }),
  )
  const { session, reader } = await stage.open()
  expect(await prompted(session, reader, 'hi')).toMatchObject({ stopReason: 'end_turn' })
  expect(reader.text).toBe('Hello.')
})

test.concurrent('output without any end of line stops the agent with a clear error, and the next prompt starts it again [43]', async () => {
  const flood = { raw: 'no newline ever ', bytes: 66 * 1024 * 1024 }
  await using stage = new Stage()
  stage.fake({ prompts: { hi: [{ chunk: 'Hello.' }, flood, { silent: true }] } })
  const { session, reader } = await stage.open()
  const end = await prompted(session, reader, 'hi')
  expect(end).toMatchObject({ stopReason: 'error', error: { code: 'AGENT_OUTPUT_TOO_LARGE' } })
  expect(reader.text).toBe('Hello.')
  expect(await prompted(session, reader, 'next')).toMatchObject({ stopReason: 'end_turn' })
})

test.concurrent('a flood on stderr is bounded, masked, and harms no turn [44]', async () => {
  const key = 'sk-very-secret-123456'
  await using stage = new Stage()
  stage.fake(withMoves({ stderr: `key is ${key}\n`, bytes: 20 * 1024 * 1024 }, { chunk: 'Done.' }), {
    env: { ACME_API_KEY: key },
  })
  const { session, reader } = await stage.open()
  expect(await prompted(session, reader, 'hi')).toMatchObject({ stopReason: 'end_turn' })
  const logs = readdirSync(stage.logDirectory).map((name) => readFileSync(join(stage.logDirectory, name), 'utf8'))
  expect(logs.join('').length).toBeLessThan(3 * 1024 * 1024)
  expect(logs.join('')).toContain('key is [secret]')
  expect(logs.join('')).not.toContain(key)
})

test.concurrent('a second response and an unknown id are ignored; an error without a message is reported all the same, and ids may come back as texts [45]', async () => {
  await using stage = new Stage()
  stage.fake({
    textIds: true,
    prompts: {
      hi: [
        { raw: '{"jsonrpc":"2.0","id":424242,"result":{}}\n' },
        { chunk: 'Hello.' },
        { answer: { stopReason: 'end_turn' } },
        { answer: { stopReason: 'refusal' } },
      ],
      401: [{ fail: { code: 401, message: '{"error":"bad key"}' } }],
      silent: [{ fail: { code: -32_603 } }],
      odd: [{ answer: { stopReason: 'bored' } }],
    },
  })
  const { session, reader } = await stage.open()
  expect(await prompted(session, reader, 'hi')).toMatchObject({ stopReason: 'end_turn' })
  expect((await prompted(session, reader, '401')).error?.message).toContain('bad key')
  expect((await prompted(session, reader, 'silent')).error?.message).toContain('-32603')
  expect((await prompted(session, reader, 'odd')).error?.message).toContain('bored')
})

test.concurrent('an agent that goes on by itself has a turn of its own; a prompt meanwhile waits for its end [46]', async () => {
  await using stage = new Stage(undefined, undefined, pacedClock(5))
  stage.fake({
    prompts: {
      hi: [
        { chunk: 'Started in the background.', messageId: 'a' },
        { answer: { stopReason: 'end_turn' } },
        { wait: 200 },
        { chunk: 'The build is done.', messageId: 'b' },
      ],
    },
  })
  const { session, reader } = await stage.open()
  await prompted(session, reader, 'hi')
  await until(() => reader.text.includes('The build is done.'))
  await prompted(session, reader, 'next')
  const turns = reader.entries.filter(({ kind }) => kind === 'turn_started' || kind === 'turn_ended')
  expect(turns.map((entry) => [entry.kind, (entry as { turnId: string }).turnId])).toEqual([
    ['turn_started', 't1'],
    ['turn_ended', 't1'],
    ['turn_started', 't2'],
    ['turn_ended', 't2'],
    ['turn_started', 't3'],
    ['turn_ended', 't3'],
  ])
  expect(turns[2]).toMatchObject({ by: 'agent' })
})

test.concurrent('a permission that is asked for in one write with the end of a turn is asked all the same [20]', async () => {
  await using stage = new Stage(undefined, undefined, pacedClock(5))
  const params = { sessionId: '{session}', ...('permission' in asks && asks.permission) }
  const request = { jsonrpc: '2.0', id: 'q', method: 'session/request_permission', params }
  const both: Move = { glue: [{ answer: { stopReason: 'end_turn' } }, { raw: `${JSON.stringify(request)}\n` }] }
  stage.fake({ prompts: { hi: [{ chunk: 'Bye.' }, both] } })
  const { session, reader } = await stage.open()
  await prompted(session, reader, 'hi')
  await until(() => reader.view?.questions.length === 1)
  await session.dispatch({ kind: 'answer', requestId: reader.view?.questions[0]?.requestId ?? '', optionId: 'yes' })
  await until(() => reader.view?.phase === 'idle')
})

test.concurrent('a permission that is asked for outside a turn has a turn of its own, and is answered [20]', async () => {
  await using stage = new Stage(undefined, undefined, pacedClock(5))
  stage.fake({
    prompts: {
      hi: [
        { chunk: 'Bye.', messageId: 'a' },
        { answer: { stopReason: 'end_turn' } },
        { wait: 100 },
        { ...asks, onAnswer: { yes: [{ chunk: 'Allowed.', messageId: 'b' }] } },
      ],
    },
  })
  const { session, reader } = await stage.open()
  await prompted(session, reader, 'hi')
  await until(() => reader.view?.questions.length === 1)
  await session.dispatch({ kind: 'answer', requestId: reader.view?.questions[0]?.requestId ?? '', optionId: 'yes' })
  await until(() => reader.text.includes('Allowed.'))
  await until(() => reader.view?.phase === 'idle')
})
