/** Servers over HTTP that lose streams, sessions and patience, and what a session notices of it. */
import { describe, expect, test } from 'vitest'
import { DO, text } from '../fixtures/mcp/scripted.mjs'
import { event, json, listen, streaming, type Script } from '../fixtures/mcp/http-server.ts'
import { playHttp, type HttpCase } from '../fixtures/mcp/torture-http.ts'
import { changeTo, never, originals, wordsOf } from '../fixtures/mcp/torture.ts'
import { until } from '../fixtures/process/running.ts'

const nothing: Script = () => false
const onCall =
  (run: Script): Script =>
  (request, response, http) =>
    request.message?.method === 'tools/call' && run(request, response, http) !== false
const onGet =
  (run: Script): Script =>
  (request, response, http) =>
    request.verb === 'GET' && run(request, response, http) !== false

/** Resolves with the code of a call of `do` that fails, or with `answered` when an answer that takes 20 s comes before that. */
async function firstToEnd({ call, failure }: Parameters<HttpCase['check']>[0]): Promise<string> {
  const over = new AbortController()
  const late = call('say', { text: 'late' }, { signal: over.signal }).then(
    () => 'answered',
    () => 'given up',
  )
  const first = await Promise.race([failure(), late])
  over.abort()
  await late
  return first
}

/** Answers `say` after 20 s; the rest of the script is for `do`. */
const slowly =
  (run: Script): Script =>
  (request, response, http) => {
    if (request.message?.params?.['name'] !== 'say') return run(request, response, http)
    setTimeout(() => http.answer(response, request.message), 20_000).unref()
    return true
  }

const works: HttpCase['check'] = async ({ ready, call }) => {
  expect((await ready()).servers[0]).toMatchObject({ state: 'ready' })
  expect(wordsOf(await call('say', { text: 'hi' }))).toBe('hi')
}

const calls: readonly HttpCase[] = [
  {
    row: 'M7 G1',
    does: 'breaks an answer off',
    script: slowly(
      onCall((_, response) => {
        streaming(response).write(': thinking\n\n')
        setTimeout(() => response.destroy(), 20)
      }),
    ),
    async check(scene) {
      await scene.ready()
      expect(await firstToEnd(scene)).toBe('TOOL_LOST')
      const names = scene.http.requests.flatMap(({ message }) => message?.params?.['name'] ?? [])
      expect(names.filter((name) => name === 'do')).toHaveLength(1)
    },
  },
  {
    row: 'A12',
    does: 'refuses a call whose token has too small a scope',
    script: onCall((_, response) => {
      response.writeHead(403, { 'www-authenticate': 'Bearer error="insufficient_scope", scope="write"' }).end()
    }),
    async check({ ready, failure }) {
      await ready()
      expect(await failure()).toBe('TOOL_NOT_RUN')
    },
  },
  {
    row: 'G1',
    does: 'ends an answer without one',
    script: onCall((_, response) => streaming(response).end()),
    async check({ ready, failure }) {
      await ready()
      expect(await failure()).toBe('TOOL_LOST')
    },
  },
  {
    row: 'G1 H7',
    does: 'promises to go on with an answer and does not',
    script: slowly((request, response) => {
      if (request.message?.method === 'tools/call')
        return (streaming(response).end('id: 1\nretry: 50\ndata:\n\n'), true)
      if (request.headers['last-event-id'] === '1') return (response.writeHead(404).end(), true)
      return false
    }),
    async check(scene) {
      await scene.ready()
      expect(await firstToEnd(scene)).toBe('TOOL_LOST')
    },
  },
  {
    row: 'H7 H9',
    does: 'goes on with an answer elsewhere',
    script: (request, response, { requests }) => {
      if (request.message?.method === 'tools/call')
        return (streaming(response).end('id: 1\nretry: 50\ndata:\n\n'), true)
      if (request.headers['last-event-id'] !== '1') return false
      const { id } = requests.find(({ message }) => message?.method === 'tools/call')?.message ?? {}
      return (streaming(response).write(event({ jsonrpc: '2.0', id, result: text('at last') }, '2')), true)
    },
    async check({ ready, call }) {
      await ready()
      expect(wordsOf(await call())).toBe('at last')
    },
  },
  {
    row: 'H4 G2 C9',
    does: 'forgets its sessions while ten calls come',
    script: nothing,
    async check({ ready, call, http }) {
      await ready()
      http.sessions.clear()
      const results = await Promise.all(Array.from({ length: 10 }, (_, n) => call('say', { text: `${n}` })))
      expect(results.map(wordsOf)).toEqual(Array.from({ length: 10 }, (_, n) => `${n}`))
      expect(http.count('initialize')).toBe(2)
    },
  },
  {
    row: 'H4',
    does: 'forgets every session at once',
    script: onCall((_, response) => response.writeHead(404).end()),
    async check({ ready, failure, http }) {
      await ready()
      expect(await failure()).toBe('TOOL_NOT_RUN')
      expect(http.count('tools/call')).toBe(2)
      expect(http.count('initialize')).toBeLessThanOrEqual(3)
    },
  },
  ...(
    [
      ['text/event-stream', 'was lost'],
      ['application/json', 'was lost: the answer is longer than 67108864 bytes'],
    ] as const
  ).map(([type, error]): HttpCase => ({
    row: 'C7',
    does: `answers with ${type} that never ends`,
    script: onCall((_, response) => {
      response.writeHead(200, { 'content-type': type }).write('data: ')
      const more = (): void => void (response.destroyed || response.write('x'.repeat(1 << 20), more))
      more()
    }),
    async check({ ready, call }) {
      await ready()
      await expect(call()).rejects.toThrow(error)
    },
  })),
  {
    row: 'E4',
    does: 'answers with a page for people',
    script: onCall((_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Hello</h1>')),
    async check({ ready, failure }) {
      await ready()
      expect(await failure()).toBe('TOOL_LOST')
    },
  },
  {
    row: 'E4',
    does: 'is overloaded once',
    script: onCall(
      (_, response, { count }) => count('tools/call') === 1 && response.writeHead(503).end() !== undefined,
    ),
    async check({ ready, failure, call }) {
      await ready()
      // Whoever stands in front of a server does not know how far a call came.
      expect(await failure()).toBe('TOOL_LOST')
      expect(wordsOf(await call())).toBe('done')
    },
  },
  {
    row: 'H8 P3',
    does: 'is told of a cancelled call by word',
    script: onCall(() => undefined),
    async check({ ready, failure, http }) {
      await ready()
      const abort = new AbortController()
      const cancelled = failure('do', {}, { signal: abort.signal })
      await until(() => http.count('tools/call') === 1)
      abort.abort()
      expect(await cancelled).toBe('TOOL_CANCELLED')
      await until(() => http.count('notifications/cancelled') === 1)
    },
  },
]

const streams: readonly HttpCase[] = [
  {
    row: 'H10 G3',
    does: 'loses its stream four times',
    script: nothing,
    async check({ ready, registry, http }) {
      await ready()
      for (let round = 0; round < 4; round++) {
        await until(() => http.streams.size === 1)
        for (const stream of http.streams) stream.destroy()
        await until(() => http.streams.size === 0)
      }
      http.methods['tools/list'] = () => ({ tools: [{ ...DO, name: 'unheard' }] })
      await changeTo(registry, (list) => originals(list).includes('unheard'))
      expect(http.count('initialize')).toBe(1)
    },
  },
  {
    row: 'H10',
    does: 'refuses its stream at first',
    script: onGet((_, response, { count }) => count('GET') < 3 && response.writeHead(503).end() !== undefined),
    async check({ ready, registry, http }) {
      await ready()
      await until(() => http.streams.size === 1)
      http.methods['tools/list'] = () => ({ tools: [{ ...DO, name: 'new' }] })
      http.tell('notifications/tools/list_changed')
      await changeTo(registry, (list) => originals(list).includes('new'))
    },
  },
  {
    row: 'H12',
    does: 'takes a dead stream for alive',
    script: onGet((_, response, { streams: open, count }) => {
      if (count('initialize') > 1) return false
      if (count('GET') === 1) return listen(response, { streams: open })
      return void response.writeHead(409).end()
    }),
    async check({ ready, registry, http }) {
      await ready()
      await until(() => http.streams.size === 1)
      for (const stream of http.streams) stream.destroy()
      await changeTo(registry, ({ servers }) => servers[0]?.state === 'failed')
      await changeTo(registry, ({ servers }) => servers[0]?.state === 'ready')
      expect(http.count('initialize')).toBe(2)
      expect(http.count('GET')).toBeLessThan(10)
    },
  },
  {
    row: 'H6',
    does: 'has no stream',
    script: onGet((_, response) => response.writeHead(405).end()),
    async check(scene) {
      await works(scene)
      await new Promise((resolve) => setTimeout(resolve, 500))
      expect(scene.http.count('GET')).toBe(1)
    },
  },
  {
    row: 'H6',
    does: 'says 404 where it has no stream',
    script: onGet((_, response) => response.writeHead(404).end()),
    async check(scene) {
      await works(scene)
      await new Promise((resolve) => setTimeout(resolve, 500))
      expect([scene.http.count('initialize'), scene.http.count('GET')]).toEqual([1, 1])
    },
  },
  {
    row: 'H6',
    does: 'answers notifications with 200',
    script: ({ message }, response) =>
      message?.id === undefined && message?.method !== undefined && (json(response, {}), true),
    async check({ ready, registry, http }) {
      await ready()
      await until(() => http.streams.size === 1)
      http.methods['tools/list'] = () => ({ tools: [{ ...DO, name: 'new' }] })
      http.tell('notifications/tools/list_changed')
      await changeTo(registry, (list) => originals(list).includes('new'))
    },
  },
  {
    row: 'H7 (retry)',
    does: 'wants to be asked again in no time',
    script: onGet((_, response) => streaming(response).end('retry: 0\n\n')),
    async check(scene) {
      await works(scene)
      await until(() => scene.http.count('GET') > 5)
      // On a busy machine one may come late and the next seem early; the shortest of a few pauses does not.
      const asked = scene.http.requests.flatMap(({ verb, at }) => (verb === 'GET' ? [at] : []))
      const pauses = asked.slice(1).map((at, index) => at - (asked[index] ?? 0))
      expect(pauses.toSorted((one, other) => one - other)[Math.floor(pauses.length / 2)]).toBeGreaterThan(45)
    },
  },
]

const meetings: readonly HttpCase[] = [
  {
    row: 'N6',
    does: 'lets nobody in',
    script: (_, response) => (response.writeHead(401).end('who are you? sentinel-secret'), true),
    async check({ ready, http }) {
      const [server] = (await ready()).servers
      expect(server).toMatchObject({ state: 'failed', reason: expect.stringContaining('HTTP 401') })
      expect(JSON.stringify(server)).not.toContain('sentinel')
      expect(http.count('GET')).toBe(0)
    },
  },
  {
    row: 'N4',
    does: 'says 404 to what it does not know, in JSON-RPC',
    script: ({ message }, response) =>
      message?.method === 'server/discover' &&
      (response
        .writeHead(404, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id: message.id, error: { code: -32601, message: 'no' } })),
      true),
    check: works,
  },
  ...(
    [
      ['400 and nothing', 400, ''],
      ['400 and a page for people', 400, '<h1>Bad Request</h1>'],
      ['405', 405, ''],
    ] as const
  ).map(([words, status, body]): HttpCase => ({
    row: 'N4',
    does: `says ${words} to the question for the newest protocol`,
    script: ({ message }, response) =>
      message?.method === 'server/discover' && (response.writeHead(status).end(body), true),
    async check(scene) {
      await works(scene)
      expect(scene.registry.list().servers[0]?.era).toBe('legacy')
    },
  })),
  {
    row: 'N6 E4',
    does: 'is overloaded when it is met',
    // It answers at once, on a busy machine too.
    options: { limits: { probeMs: 20_000 } },
    script: (_, response) => (response.writeHead(503).end(), true),
    async check({ ready, http }) {
      expect((await ready()).servers[0]).toMatchObject({
        state: 'failed',
        reason: expect.stringContaining('HTTP 503') as string,
      })
      expect([http.count('initialize'), http.count('GET')]).toEqual([0, 0])
    },
  },
  {
    row: 'B7',
    does: 'has pictures for everything',
    script: ({ message }, response) => {
      if (message?.method !== 'tools/list') return false
      const icons = [{ src: 'http://127.0.0.1:1/tool.png' }, { src: 'javascript:alert(1)' }, { src: '/icon.png' }]
      return (json(response, { jsonrpc: '2.0', id: message.id, result: { tools: [{ ...DO, icons }] } }), true)
    },
    async check({ ready, call, http }) {
      expect(originals(await ready())).toEqual(['do'])
      await call()
      expect(http.requests.filter(({ url }) => !url.startsWith('/mcp'))).toEqual([])
    },
  },
  ...(['application/json', 'text/event-stream'] as const).map((type): HttpCase => ({
    row: 'B2',
    does: `speaks in batches of ${type}`,
    script: ({ message }, response) => {
      if (message?.method !== 'tools/call') return false
      const note = { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x' } }
      const batch = [note, { jsonrpc: '2.0', id: message.id, result: { content: [{ type: 'text', text: 'two' }] } }]
      response.setHeader('content-type', type)
      response.end(type === 'application/json' ? JSON.stringify(batch) : event(batch, 'one'))
      return true
    },
    async check({ ready, call }) {
      await ready()
      expect(wordsOf(await call('do', {}, { timeoutMs: 5000 }))).toBe('two')
    },
  })),
  {
    row: 'B2 G13',
    does: 'speaks in one batch without end',
    script: onCall(({ message }, response) => {
      const note = { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x' } }
      const answer = { jsonrpc: '2.0', id: message?.id, result: text('at last') }
      json(response, [...Array.from({ length: 5_000 }, () => note), answer])
    }),
    async check({ ready, call }) {
      await ready()
      let breaths = 0
      const timer = setInterval(() => (breaths += 1), 1)
      expect(wordsOf(await call('do', {}, { timeoutMs: 60_000 }))).toBe('at last')
      clearInterval(timer)
      expect(breaths).toBeGreaterThan(20)
    },
  },
  {
    row: 'E1',
    does: 'says in JSON-RPC that nothing is there',
    script: ({ message }, response) => {
      if (message === undefined) return false
      const error = { code: -32601, message: 'no' }
      response.writeHead(404, { 'content-type': 'application/json' })
      return (response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id ?? null, error })), true)
    },
    async check({ ready, http }) {
      expect((await ready()).servers[0]).toMatchObject({ state: 'failed' })
      expect(http.count('GET')).toBe(0)
    },
  },
  {
    row: 'N4',
    does: 'never answers the question for the newest protocol',
    script: ({ message }) => message?.method === 'server/discover',
    check: works,
  },
  {
    row: 'H2 H3',
    does: 'wants its headers on everything',
    script: nothing,
    headers: [
      ['x-team', 'red'],
      ['X-TEAM', 'blue'],
      ['MCP-Protocol-Version', '1999-01-01'],
    ],
    async check({ ready, call, registry, http }) {
      await ready()
      await call()
      await until(() => http.count('GET') === 1)
      await registry.close()
      const later = http.requests.filter(({ headers }) => headers['mcp-session-id'] !== undefined)
      expect(new Set(later.map(({ verb }) => verb))).toEqual(new Set(['POST', 'GET', 'DELETE']))
      for (const { headers, url } of later) {
        expect(headers).toMatchObject({ 'x-team': 'blue', 'mcp-session-id': 'session-0' })
        expect(url).toBe('/mcp?api_key=sentinel-secret')
      }
      expect(later.at(-1)?.headers['mcp-protocol-version']).toBe('2025-11-25')
    },
  },
  {
    row: 'Z4',
    does: 'sends us elsewhere',
    script: (_, response) => (response.writeHead(307, { location: 'http://169.254.169.254/latest/' }).end(), true),
    check: async ({ ready }) => expect((await ready()).servers[0]).toMatchObject({ state: 'failed' }),
  },
  {
    row: 'H5 (shared)',
    does: 'is left by two sessions that share it',
    options: { limits: { idleMs: 100 } },
    script: nothing,
    async check({ ready, registry, bench, server, http }) {
      await ready()
      const other = bench.open([server])
      await other.ready(20_000, never)
      await registry.close()
      await new Promise((resolve) => setTimeout(resolve, 300))
      expect([http.count('initialize'), http.count('DELETE')]).toEqual([1, 0])
      await other.close()
      await until(() => http.count('DELETE') === 1)
    },
  },
  {
    row: 'H5 (end of the host)',
    does: 'is kept for sessions to come when the host ends',
    options: { limits: { idleMs: 60_000 } },
    script: nothing,
    async check({ ready, registry, bench, http }) {
      expect((await ready()).servers[0]?.state).toBe('ready')
      await registry.close()
      expect(http.count('DELETE')).toBe(0)
      await bench.host.close()
      await until(() => http.count('DELETE') === 1)
    },
  },
  {
    row: 'H5',
    does: 'does not hear the goodbye',
    script: ({ verb }) => verb === 'DELETE',
    async check(scene) {
      await works(scene)
      const since = performance.now()
      await scene.registry.close()
      expect(performance.now() - since).toBeLessThan(60_000)
    },
  },
]

describe.concurrent.each([
  ['is called and', calls],
  ['streams and', streams],
  ['is met and', meetings],
])('a server over HTTP %s', (_, cases) => {
  for (const one of cases) test(`${one.does} [${one.row}]`, () => playHttp(one))
})
