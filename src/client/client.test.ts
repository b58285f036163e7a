import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, test } from 'vitest'
import { isParleyError } from '../errors/parley-error.ts'
import { type Client, connect } from './client.ts'
import type { ClientDelegate } from './client-delegate.ts'
import { openLineTransport } from './connection/transport.ts'
import type { UpdateParams } from './incoming/updates.ts'

const agent = fileURLToPath(new URL('../../test/fixtures/client/agent.mjs', import.meta.url))
const info = { name: 'test', title: 'Test', version: '1' }
const children: ChildProcessWithoutNullStreams[] = []

interface Received {
  readonly id?: unknown
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
  readonly result?: unknown
  readonly error?: { readonly code: number }
}

/** An agent in a process of its own, and what it heard. */
class FakeAgent {
  readonly child: ChildProcessWithoutNullStreams
  readonly heard: (Received | string)[] = []
  readonly updates: UpdateParams[] = []
  ask: ClientDelegate['ask'] = () => new Promise(() => undefined)
  #rest = ''

  constructor(book: Readonly<Record<string, unknown>>) {
    this.child = spawn(process.execPath, [agent, JSON.stringify(book)])
    children.push(this.child)
    this.child.stderr.setEncoding('utf8').on('data', (text: string) => {
      const lines = (this.#rest + text).split('\n')
      this.#rest = lines.pop() ?? ''
      this.heard.push(...lines.map((line) => JSON.parse(line) as Received))
      this.child.emit('heard')
    })
  }

  connect(): Promise<Client> {
    const face: ClientDelegate = {
      updated: (params) => this.updates.push(params),
      ask: (question, withdrawn) => this.ask(question, withdrawn),
    }
    const means = {
      dial: async () => openLineTransport(this.child.stdout, this.child.stdin),
      pause: () => Promise.resolve(),
      newId: () => 'p-1',
    }
    return connect(means, face, { info })
  }

  async until(fits: (one: Received | string) => boolean): Promise<Received> {
    for (;;) {
      const found = this.heard.find(fits)
      if (found !== undefined) return found as Received
      await once(this.child, 'heard')
    }
  }

  get methods(): readonly (string | undefined)[] {
    return this.heard.map((one) => (typeof one === 'string' ? one : one.method))
  }
}

const able = (sessions: Readonly<Record<string, unknown>>, more = {}) => ({
  result: { protocolVersion: 1, agentCapabilities: { loadSession: true, sessionCapabilities: sessions, ...more } },
})
const question = (id: unknown, sessionId = 's') => ({
  jsonrpc: '2.0',
  id,
  method: 'session/request_permission',
  params: {
    sessionId,
    toolCall: { toolCallId: 't', title: 'Delete all' },
    options: [{ optionId: 'yes', name: 'Allow', kind: 'allow_once' }],
  },
})

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

describe('initialize', () => {
  test('sends the newest version and the client info', async () => {
    const fake = new FakeAgent({})
    const client = await fake.connect()
    expect(client.name).toBe('fake')
    const first = await fake.until(() => true)
    expect(first).toMatchObject({ method: 'initialize', params: { protocolVersion: 1, clientInfo: info } })
  })

  test.each([2, 0, '1', null, undefined])(
    'closes the connection when the agent answers with version %j',
    async (protocolVersion) => {
      const fake = new FakeAgent({ initialize: { result: { protocolVersion } } })
      const error: unknown = await fake.connect().catch((reason: unknown) => reason)
      expect(isParleyError(error, 'PROTOCOL_UNSUPPORTED')).toBe(true)
      await fake.until((one) => one === 'the client closed its side')
    },
  )

  test('accepts `mcp` for `mcpCapabilities` and an agent without a name, and ignores unknown fields', async () => {
    const fake = new FakeAgent({ initialize: able({ teleport: {} }, { mcp: { http: true }, levitation: 3 }) })
    const client = await fake.connect()
    expect(client.can).toMatchObject({ load: true, list: false, resume: false, mcp: { http: true, sse: false } })
    expect(client.name).toBe('the agent')
  })

  test('fails with the reason when the agent dies', async () => {
    const fake = new FakeAgent({ initialize: { exit: true } })
    const error: unknown = await fake.connect().catch((reason: unknown) => reason)
    expect(isParleyError(error, 'CONNECTION_LOST')).toBe(true)
  })
})

describe('sessions', () => {
  test('methods that were not advertised are not called', async () => {
    const fake = new FakeAgent({ 'session/new': { result: { sessionId: 's' } } })
    const client = await fake.connect()
    const session = { sessionId: 's', cwd: '/' }
    const refused = await Promise.allSettled([
      client.loadSession(session),
      client.resumeSession(session),
      client.sessions().next(),
    ])
    expect(refused.map((one) => one.status === 'rejected' && isParleyError(one.reason, 'CAPABILITY_MISSING'))).toEqual([
      true,
      true,
      true,
    ])
    expect(await client.newSession('/')).toBe('s')
    await fake.until((one) => (one as Received).method === 'session/new')
    expect(fake.methods).toEqual(['initialize', 'session/new'])
  })

  test('a load may answer null, and its updates have arrived by then', async () => {
    const update = (text: string) => ({
      jsonrpc: '2.0',
      method: 'session/update',
      params: { sessionId: 's', update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } } },
    })
    const fake = new FakeAgent({
      initialize: able({}),
      'session/load': { before: [update('a'), 'not JSON', update('b')], result: null },
    })
    const client = await fake.connect()
    await client.loadSession({ sessionId: 's', cwd: '/' })
    expect(fake.updates.map(({ update }) => (update['content'] as { text: string }).text)).toEqual(['a', 'b'])
  })

  test('every page of a list is requested, with the cursor unchanged', async () => {
    const fake = new FakeAgent({
      initialize: able({ list: {} }),
      'session/list': [
        { result: { sessions: [{ sessionId: 'a', cwd: '/' }], nextCursor: 'x/1' } },
        { result: { sessions: [{ sessionId: 'b', cwd: '/' }] } },
      ],
    })
    const client = await fake.connect()
    const ids: string[] = []
    for await (const { sessionId } of client.sessions('/w')) ids.push(sessionId)
    expect(ids).toEqual(['a', 'b'])
    await fake.until((one) => (one as Received).params?.['cursor'] !== undefined)
    expect(fake.heard.slice(1)).toMatchObject([{ params: { cwd: '/w' } }, { params: { cwd: '/w', cursor: 'x/1' } }])
  })

  test('a refusal keeps the message and the code of the server', async () => {
    const error = { code: -32_002, message: 'There is no session q.', data: { code: 'SESSION_NOT_FOUND' } }
    const fake = new FakeAgent({ 'session/prompt': { error } })
    const client = await fake.connect()
    const refused: unknown = await client.prompt('q', 'hello').catch((reason: unknown) => reason)
    if (!isParleyError(refused, 'PEER_REFUSED')) throw refused
    expect(refused.message).toBe('There is no session q.')
    expect(refused.details.code).toBe('SESSION_NOT_FOUND')
  })
})

describe('a message of the agent', () => {
  test('an unknown request is answered as unknown, and an unknown notification ignored', async () => {
    const before = [
      { jsonrpc: '2.0', method: '_fake/tells', params: {} },
      { jsonrpc: '2.0', id: 'r1', method: 'fs/read_text_file', params: { path: '/etc/passwd' } },
      { jsonrpc: '2.0', method: 'session/update', params: { sessionId: 's' } },
    ]
    const fake = new FakeAgent({ 'session/prompt': { before, result: { stopReason: 'end_turn' } } })
    const client = await fake.connect()
    expect(await client.prompt('s', 'hello')).toEqual({ stopReason: 'end_turn' })
    expect(await fake.until((one) => (one as Received).id === 'r1')).toMatchObject({ error: { code: -32_601 } })
    expect(fake.updates).toEqual([])
  })

  test('a permission request is answered once, with the chosen option', async () => {
    const fake = new FakeAgent({ 'session/prompt': { before: [question('p1')] } })
    fake.ask = async ({ options }) => options[0]?.optionId ?? null
    const client = await fake.connect()
    client.prompt('s', 'hello').catch(() => undefined)
    const answer = await fake.until((one) => (one as Received).id === 'p1')
    expect(answer.result).toEqual({ outcome: { outcome: 'selected', optionId: 'yes' } })
  })

  test('a permission request is not approved when the delegate throws', async () => {
    const fake = new FakeAgent({ 'session/prompt': { before: [question('p1')] } })
    fake.ask = () => Promise.reject(new Error('no screen'))
    const client = await fake.connect()
    client.prompt('s', 'hello').catch(() => undefined)
    const answer = await fake.until((one) => (one as Received).id === 'p1')
    expect(answer.result).toEqual({ outcome: { outcome: 'cancelled' } })
  })

  test('a cancel answers every open permission request of its session as cancelled, and late answers are dropped', async () => {
    const before = [question('p1'), question('p2'), question('other', 'another session')]
    const fake = new FakeAgent({
      'session/prompt': { before },
      'session/cancel': { after: [{ jsonrpc: '2.0', id: 'last', method: 'ping', params: {} }] },
    })
    const late: ((optionId: string) => void)[] = []
    const asked = new Promise<void>((resolve) => {
      fake.ask = () =>
        new Promise((answer) => {
          if (late.push(answer) === before.length) resolve()
        })
    })
    const client = await fake.connect()
    client.prompt('s', 'hello').catch(() => undefined)
    await asked
    client.cancel('s')
    for (const answer of late.slice(0, 2)) answer('yes')
    await fake.until((one) => (one as Received).id === 'last')
    const answers = fake.heard.filter((one) => typeof one === 'object' && 'result' in one) as Received[]
    expect(answers).toMatchObject([
      { id: 'p1', result: { outcome: { outcome: 'cancelled' } } },
      { id: 'p2', result: { outcome: { outcome: 'cancelled' } } },
    ])
  })

  test('a permission request that another client has answered is withdrawn', async () => {
    const withdraw = { jsonrpc: '2.0', method: '$/cancel_request', params: { requestId: 'p1' } }
    const fake = new FakeAgent({ 'session/prompt': { before: [question('p1'), withdraw] } })
    const withdrawn = new Promise<void>((resolve) => {
      fake.ask = (_question, signal) =>
        new Promise(() => signal.addEventListener('abort', () => resolve(), { once: true }))
    })
    const client = await fake.connect()
    client.prompt('s', 'hello').catch(() => undefined)
    await withdrawn
  })
})

test('open requests fail when the agent ends, and so do later ones', async () => {
  const fake = new FakeAgent({ 'session/prompt': { exit: true } })
  const client = await fake.connect()
  const lost = await Promise.allSettled([client.prompt('s', 'hello'), client.closed.then(() => client.newSession('/'))])
  expect(lost.map((one) => one.status === 'rejected' && isParleyError(one.reason, 'CONNECTION_LOST'))).toEqual([
    true,
    true,
  ])
})
