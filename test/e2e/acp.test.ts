/** The rows of ACP v1 that an agent must keep (A-… in the requirement inventory), as raw lines to one running binary. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Fields, type Message, textOf, updatesIn } from './message.ts'
import { initialize, newSession, promptOf } from './parley.ts'
import type { RawClient } from './raw-client.ts'
import { deviations } from './schema.ts'
import { type Stage, openStage } from './stage.ts'

const STEPS = [
  { thought: 'hm ' },
  { chunk: 'w{n} ', times: 25, everyMs: 2 },
  { toolCall: { toolCallId: 'edit', title: 'Edits', kind: 'edit', status: 'in_progress' } },
  { chunk: 'x{n} ', times: 25, everyMs: 2 },
  { toolCall: { toolCallId: 'edit', status: 'completed' } },
]

let stage: Stage
let client: RawClient
let sessionId = ''

beforeAll(async () => {
  stage = await openStage(STEPS)
  client = stage.start()
  await initialize(client)
  sessionId = await newSession(client, stage.cwd)
})

afterAll(async () => {
  const { code } = await client.leave()
  const wrong = deviations(client)
  stage.remove()
  expect({ code, wrong }).toEqual({ code: 0, wrong: [] })
})

describe('a request that cannot be met is refused with one clear answer', () => {
  const open = (): Fields => ({ sessionId, cwd: stage.cwd, mcpServers: [] })
  const create = (more: Fields): Fields => ({ cwd: stage.cwd, mcpServers: [], ...more })
  const unknown = (): Fields => ({ sessionId: 'nobody', cwd: stage.cwd, mcpServers: [] })
  const ask = (block: Fields): Fields => ({ sessionId, prompt: [block] })

  const cases: readonly (readonly [row: string, method: string, params: () => Fields, code: number])[] = [
    ['A-NW-2 a relative cwd', 'session/new', () => create({ cwd: 'work' }), -32602],
    ['A-NW-2 a cwd that is not there', 'session/new', () => create({ cwd: join(stage.cwd, 'nowhere') }), -32602],
    ['A-NW-2 no cwd', 'session/new', () => ({ mcpServers: [] }), -32602],
    ['A-NW-6 no mcpServers', 'session/new', () => ({ cwd: stage.cwd }), -32602],
    ['A-NW-6 no mcpServers on load', 'session/load', () => ({ sessionId, cwd: stage.cwd }), -32602],
    [
      'A-MC-5 a transport that is not offered',
      'session/new',
      () => create({ mcpServers: [{ type: 'acp', name: 'x', id: 'y' }] }),
      -32602,
    ],
    [
      'A-MC-5 one bad server among good ones',
      'session/new',
      () => create({ mcpServers: [{ name: 'a', command: '/bin/cat', args: [], env: [] }, { name: 'b' }] }),
      -32602,
    ],
    ['A-AD-2 directories that are no list', 'session/new', () => create({ additionalDirectories: '/tmp' }), -32602],
    ['A-AD-2 a directory that is no text', 'session/new', () => create({ additionalDirectories: [5] }), -32602],
    ['A-AD-2 an empty directory', 'session/new', () => create({ additionalDirectories: [''] }), -32602],
    ['A-AD-2 a relative directory', 'session/new', () => create({ additionalDirectories: ['b'] }), -32602],
    [
      'A-AD-2 a relative directory on load',
      'session/load',
      () => ({ ...open(), additionalDirectories: ['b'] }),
      -32602,
    ],
    [
      'A-AD-2 a relative directory on resume',
      'session/resume',
      () => ({ ...open(), additionalDirectories: ['b'] }),
      -32602,
    ],
    [
      'A-AD-3 a directory that cannot be granted',
      'session/new',
      () => create({ additionalDirectories: ['/no/such'] }),
      -32602,
    ],
    ['A-AD-5 another cwd than the session has', 'session/load', () => ({ ...open(), cwd: '/' }), -32602],
    ['A-AD-5 another cwd on resume', 'session/resume', () => ({ ...open(), cwd: '/' }), -32602],
    ['A-LD-5 a session that is not known', 'session/load', unknown, -32002],
    ['A-RS-2 a session that is not known', 'session/resume', unknown, -32002],
    ['A-CL-3 closing what is not known', 'session/close', () => ({ sessionId: 'nobody' }), -32002],
    ['A-LS-4 a cursor that is not ours', 'session/list', () => ({ cursor: 'garbage' }), -32602],
    ['A-LS-2 a relative filter', 'session/list', () => ({ cwd: 'work' }), -32602],
    [
      'A-PR-2 an image that is not taken',
      'session/prompt',
      () => ask({ type: 'image', data: 'AA==', mimeType: 'image/png' }),
      -32602,
    ],
    [
      'A-PR-2 audio that is not taken',
      'session/prompt',
      () => ask({ type: 'audio', data: 'AA==', mimeType: 'audio/wav' }),
      -32602,
    ],
    [
      'A-PR-2 a resource that is not taken',
      'session/prompt',
      () => ask({ type: 'resource', resource: { uri: 'file:///a', text: 'a' } }),
      -32602,
    ],
    ['A-PR-2 content of no known kind', 'session/prompt', () => ask({ type: 'smell' }), -32602],
    ['A-PR-12 an empty prompt', 'session/prompt', () => ({ sessionId, prompt: [] }), -32602],
    ['A-PR-1 a prompt to a session that is not known', 'session/prompt', () => promptOf('nobody', 'x'), -32002],
    ['A-JR-4 an unknown method', 'foo/bar', () => ({}), -32601],
    ['A-EX-1 an extension that we do not have', '_x/y', () => ({}), -32601],
  ]
  test.each(cases)('%s', async (...[_row, method, params, code]) => {
    const before = (await listed()).length
    const { error } = await client.request(method, params())
    expect(error?.code).toBe(code)
    expect(error?.data).toHaveProperty('code')
    expect((await listed()).length).toBe(before)
  })
})

describe('what may look odd is taken', () => {
  test.each<[string, string, () => Fields]>([
    ['A-NW-6 mcpServers: null', 'session/new', () => ({ cwd: stage.cwd, mcpServers: null })],
    [
      'A-AD-1 absolute directories',
      'session/new',
      () => ({ cwd: stage.cwd, mcpServers: [], additionalDirectories: ['/tmp'] }),
    ],
    [
      'A-AD-1 additionalDirectories: null',
      'session/new',
      () => ({ cwd: stage.cwd, mcpServers: [], additionalDirectories: null }),
    ],
    ['A-RS-4 resume without servers', 'session/resume', () => ({ sessionId, cwd: stage.cwd })],
    ['A-DL-2 deleting what never was', 'session/delete', () => ({ sessionId: 'nope' })],
    ['A-EX-3 _meta', 'session/list', () => ({ _meta: { traceparent: '00-1', anything: [1] } })],
    ['A-CV-3 unknown keys', 'session/list', () => ({ unheardOf: true })],
  ])('%s', async (_row, method, params) => expect((await client.request(method, params())).error).toBeUndefined())
})

describe('JSON-RPC', () => {
  test.each([[0], ['0'], ['a'], [Number.MAX_SAFE_INTEGER], [-1]])(
    'A-JR-1 the id %j comes back as it was',
    async (id) => {
      const from = client.received.length
      client.asked.set(id, 'session/list')
      client.send({ id, method: 'session/list', params: {} })
      await until(() => client.received.slice(from).some((message) => message.id === id))
    },
  )

  test.each([
    ['what does not parse', '{"jsonrpc":', -32700],
    ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"session/list"}]', -32600],
    ['a number', '42', -32600],
    ['null', 'null', -32600],
    ['another version', '{"jsonrpc":"1.0","id":5,"method":"session/list"}', -32600],
    ['params that are a text', '{"jsonrpc":"2.0","id":5,"method":"session/list","params":"x"}', -32600],
    ['an id that is an object', '{"jsonrpc":"2.0","id":{},"method":"session/list"}', -32600],
  ])('A-JR-6 %s is refused, and the connection stays usable', async (_what, line, code) => {
    const from = client.received.length
    client.write(`${line}\n`)
    await until(() => client.received.length > from)
    expect(client.received[from]).toMatchObject({ id: null, error: { code } })
    expect((await client.request('session/list', {})).error).toBeUndefined()
  })

  test('A-JR-3 a notification is never answered, however bad', async () => {
    const from = client.received.length
    for (const [method, params] of [
      ['session/cancel', {}],
      ['session/cancel', { sessionId: 'nobody' }],
      ['session/cancel', { sessionId }],
      ['foo/bar', {}],
      ['_x/n', {}],
      ['$/anything', {}],
      ['$/cancel_request', { requestId: 'nothing' }],
    ] as const)
      client.notify(method, params)
    client.send({ id: 'unasked', result: {} })
    const { id } = await client.request('session/list', {})
    expect(client.received.slice(from).map((message) => message.id)).toEqual([id])
  })

  test('A-JR-7 a prompt in one session does not hold up anything else', async () => {
    const prompt = client.ask('session/prompt', promptOf(sessionId, 'go'))
    const other = await newSession(client, stage.cwd)
    expect((await client.request('session/prompt', promptOf(other, 'go'))).result).toEqual({ stopReason: 'end_turn' })
    expect((await client.answerTo(prompt)).result).toEqual({ stopReason: 'end_turn' })
  })

  test('A-TR-1 characters may be cut by the pipe, and a CR before the newline is none of them', async () => {
    const text = 'né 汉字 🙂 \u2028 end'
    const id = 'cut'
    client.asked.set(id, 'session/prompt')
    const bytes = Buffer.from(
      `${JSON.stringify({ jsonrpc: '2.0', id, method: 'session/prompt', params: promptOf(sessionId, text) })}\r\n`,
    )
    for (const byte of bytes) client.write(Uint8Array.of(byte))
    await client.answerTo(id)
    expect(userTexts(await reload())).toContain(text)
  })
})

describe('a prompt', () => {
  test('A-PR-4, A-PR-5 two sessions at once: each update names its own, and none follows the end', async () => {
    const other = await newSession(client, stage.cwd)
    const from = client.received.length
    const asked = [sessionId, other].map((id) => [id, client.ask('session/prompt', promptOf(id, `to ${id}`))] as const)
    for (const [id, request] of asked) {
      const answer = await client.answerTo(request)
      const own = client.received
        .slice(from)
        .filter((message) => message === answer || updatesIn([message], id).length > 0)
      expect(own.at(-1)).toBe(answer)
      expect(spoken(own, id)).toBe(FULL)
    }
  })

  test('A-PR-8 chunks of one message have one id, and another message another', async () => {
    const from = client.received.length
    await client.request('session/prompt', promptOf(sessionId, 'go'))
    const ids = chunks(client.received.slice(from)).map(({ update }) => String(update['messageId']))
    expect([...new Set(ids)]).toHaveLength(3)
    expect(ids.filter((id, index) => id !== ids[index - 1])).toHaveLength(3)
  })

  test('A-PR-12 while another runs waits for its turn, and each ends once', async () => {
    const from = client.received.length
    const asked = ['one', 'two', 'three'].map((text) => client.ask('session/prompt', promptOf(sessionId, text)))
    for (const id of asked) expect((await client.answerTo(id)).result).toEqual({ stopReason: 'end_turn' })
    const answers = client.received
      .slice(from)
      .filter(({ method, id }) => method === undefined && asked.includes(Number(id)))
    expect(answers.map(({ id }) => id)).toEqual(asked)
    expect(spoken(client.received.slice(from), sessionId)).toBe(FULL.repeat(3))
    expect(userTexts(await reload()).slice(-3)).toEqual(['one', 'two', 'three'])
  })

  test('A-CA-2, A-CA-3, A-TC-9 that is cancelled ends as cancelled, with nothing open and nothing after it', async () => {
    const from = client.received.length
    const prompt = client.ask('session/prompt', promptOf(sessionId, 'go'))
    await client.until(
      (message) =>
        client.received.indexOf(message) >= from && updatesIn([message])[0]?.update['status'] === 'in_progress',
    )
    client.notify('session/cancel', { sessionId })
    const answer = await client.answerTo(prompt)
    expect(answer.result).toEqual({ stopReason: 'cancelled' })
    expect(client.received.at(-1)).toBe(answer)
    const statuses = updatesIn(client.received.slice(from)).map(({ update }) => update['status'])
    expect(statuses.findLast((status) => status !== undefined)).toBe('failed')
  })

  test('A-CR-4 whose request is cancelled ends as cancelled, never as an error', async () => {
    const prompt = client.ask('session/prompt', promptOf(sessionId, 'go'))
    const waiting = client.ask('session/prompt', promptOf(sessionId, 'never played'))
    client.notify('$/cancel_request', { requestId: waiting })
    expect((await client.answerTo(waiting)).result).toEqual({ stopReason: 'cancelled' })
    client.notify('$/cancel_request', { requestId: prompt })
    expect((await client.answerTo(prompt)).result).toEqual({ stopReason: 'cancelled' })
  })

  test('sent again with its id runs once, and both are answered', async () => {
    const from = client.received.length
    const params = { ...promptOf(sessionId, 'once'), _meta: { 'parley/promptId': 'the-one' } }
    const asked = [client.ask('session/prompt', params), client.ask('session/prompt', params)]
    for (const id of asked) expect((await client.answerTo(id)).result).toEqual({ stopReason: 'end_turn' })
    expect((await client.request('session/prompt', params)).result).toEqual({ stopReason: 'end_turn' })
    expect(spoken(client.received.slice(from), sessionId)).toBe(FULL)
  })
})

describe('a session', () => {
  test('A-NW-1, A-NW-7 has an id of its own, and is not spoken of before that is known', async () => {
    const from = client.received.length
    const ids = [await newSession(client, stage.cwd), await newSession(client, stage.cwd)]
    expect(new Set(ids).size).toBe(2)
    for (const id of ids) {
      const messages = client.received.slice(from)
      const known = messages.findIndex(({ result }) => result?.['sessionId'] === id)
      expect(updatesIn(messages.slice(0, known), id)).toEqual([])
    }
  })

  test('A-LD-1, A-LD-2, A-LD-6 is loaded whole, before the answer, with the ids that were seen', async () => {
    const id = await newSession(client, stage.cwd)
    const from = client.received.length
    await client.request('session/prompt', promptOf(id, 'go'))
    const live = chunks(client.received.slice(from))
    const replay = await reload(id)
    const ids = (updates: typeof live): readonly unknown[] => [
      ...new Set(updates.map(({ update }) => update['messageId'])),
    ]
    expect(ids(chunks(replay))).toEqual(ids(live))
    expect(spoken(replay, id)).toBe(FULL)
    expect(userTexts(replay)).toEqual(['go'])
    expect(replay.at(-1)).toMatchObject({ result: {} })
    const quiet = client.received.length
    await client.request('session/list', {})
    expect(client.received.length).toBe(quiet + 1)
  })

  test('A-LD-2 is loaded in mid-turn without a seam', async () => {
    const id = await newSession(client, stage.cwd)
    const prompt = client.ask('session/prompt', promptOf(id, 'go'))
    await client.until((message) => updatesIn([message], id).some((seen) => textOf(seen).startsWith('w9')))
    const from = client.received.length
    await client.request('session/load', { sessionId: id, cwd: stage.cwd, mcpServers: [] })
    expect((await client.answerTo(prompt)).result).toEqual({ stopReason: 'end_turn' })
    // What was still on its way when the load was asked for belongs to the view before it.
    const messages = client.received.slice(from)
    const replayed = messages.findIndex((message) => userTexts([message]).length > 0)
    expect(spoken(messages.slice(replayed), id)).toBe(FULL)
  })

  test('A-RS-1 is resumed without its past', async () => {
    const from = client.received.length
    await client.request('session/resume', { sessionId, cwd: stage.cwd, mcpServers: [] })
    expect(chunks(client.received.slice(from))).toEqual([])
  })

  test('A-CL-1, A-CL-2, A-CL-4 that is closed in mid-turn is cancelled, and stays listed and loadable', async () => {
    const id = await newSession(client, stage.cwd)
    const prompt = client.ask('session/prompt', promptOf(id, 'go'))
    await client.until((message) => updatesIn([message], id).some((seen) => textOf(seen).startsWith('w3')))
    expect((await client.request('session/close', { sessionId: id })).result).toEqual({})
    expect((await client.answerTo(prompt)).result).toEqual({ stopReason: 'cancelled' })
    expect(await listed()).toContain(id)
    expect((await client.request('session/prompt', promptOf(id, 'too late'))).error).toBeDefined()
    expect(spoken(await reload(id), id).startsWith('hm w1 w2 w3 ')).toBe(true)
  })

  test('A-DL-1, A-DL-2, A-DL-3 that is deleted is gone, also when it is busy or deleted before', async () => {
    const id = await newSession(client, stage.cwd)
    const prompt = client.ask('session/prompt', promptOf(id, 'go'))
    expect((await client.request('session/delete', { sessionId: id })).result).toEqual({})
    expect((await client.answerTo(prompt)).result).toEqual({ stopReason: 'cancelled' })
    expect((await client.request('session/delete', { sessionId: id })).result).toEqual({})
    expect(await listed()).not.toContain(id)
    expect((await client.request('session/load', { sessionId: id, cwd: stage.cwd, mcpServers: [] })).error?.code).toBe(
      -32002,
    )
  })
})

describe('the list', () => {
  test('A-LS-1, A-LS-2 has exactly the sessions of the cwd', async () => {
    const near = `${stage.cwd}-near`
    mkdirSync(near)
    const id = await newSession(client, near)
    expect(await listed({ cwd: near })).toEqual([id])
    for (const cwd of [`${near}/`, near.slice(0, -1), `${near}/..`]) expect(await listed({ cwd })).toEqual([])
  })

  test('A-LS-3, A-LS-8 tells what a session is, and what its updates told', async () => {
    const params = { cwd: stage.cwd, mcpServers: [], additionalDirectories: ['/tmp', '/'] }
    const { result } = await client.request('session/new', params)
    const from = client.received.length
    await client.request('session/prompt', promptOf(String(result?.['sessionId']), 'Name it'))
    const told = updatesIn(client.received.slice(from)).find(
      ({ update }) => update.sessionUpdate === 'session_info_update',
    )
    const list = await client.request('session/list', {})
    const [newest] = (list.result?.['sessions'] ?? []) as readonly Fields[]
    const { title, updatedAt, ...rest } = newest ?? {}
    expect(rest).toEqual({ sessionId: result?.['sessionId'], cwd: stage.cwd, additionalDirectories: ['/tmp', '/'] })
    expect(title).toBe(told?.update['title'])
    expect(new Date(String(updatedAt)).toISOString()).toBe(updatedAt)
  })

  test('A-LS-5 comes in pages that neither repeat nor miss a session, while others come', async () => {
    for (let count = 0; count < 60; count += 1) await newSession(client, stage.cwd)
    const all = await listed()
    const [first, cursor] = await page({})
    await newSession(client, stage.cwd)
    const rest = await listed({ cursor })
    expect([...first, ...rest]).toEqual(all)
    expect(first.length).toBeLessThan(all.length)
  })
})

const FULL = `hm ${count('w')}${count('x')}`

function count(letter: string): string {
  return Array.from({ length: 25 }, (_, index) => `${letter}${index + 1} `).join('')
}

function chunks(messages: readonly Message[]): ReturnType<typeof updatesIn> {
  return updatesIn(messages).filter(({ update }) => /^agent_.*_chunk$/.test(update.sessionUpdate))
}

function spoken(messages: readonly Message[], id: string): string {
  return chunks(messages)
    .filter((seen) => seen.sessionId === id)
    .map(textOf)
    .join('')
}

function userTexts(messages: readonly Message[]): readonly string[] {
  return updatesIn(messages)
    .filter(({ update }) => update.sessionUpdate === 'user_message_chunk')
    .map(textOf)
}

/** All that a load tells, with its answer. */
async function reload(id = sessionId): Promise<readonly Message[]> {
  const from = client.received.length
  await client.request('session/load', { sessionId: id, cwd: stage.cwd, mcpServers: [] })
  return client.received.slice(from)
}

async function page(params: Fields): Promise<readonly [readonly string[], string | undefined]> {
  const { result } = await client.request('session/list', params)
  const sessions = result?.['sessions'] as readonly { readonly sessionId: string }[]
  return [sessions.map((session) => session.sessionId), result?.['nextCursor'] as string | undefined]
}

async function listed(params: Fields = {}): Promise<readonly string[]> {
  const [ids, next] = await page(params)
  return next === undefined ? ids : [...ids, ...(await listed({ ...params, cursor: next }))]
}

/** Resolves with the message that makes it so. */
async function until(holds: () => boolean): Promise<void> {
  if (!holds()) await new Promise<void>((resolve) => client.listen(() => holds() && resolve()))
}
