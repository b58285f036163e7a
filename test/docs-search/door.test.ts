import { hostname } from 'node:os'
import { expect, test } from 'vitest'
import {
  closeAfterEach,
  INITIALIZE,
  KEY,
  opened,
  raw,
  type RawRequest,
  RawSession,
  search,
  serve,
  shared,
} from './served.ts'

closeAfterEach()

const JSON_ONLY = { 'Content-Type': 'application/json' }
const LIST = { jsonrpc: '2.0', id: 7, method: 'tools/list' }
const MODERN_LIST = {
  ...LIST,
  params: {
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  },
}

/** Of tests that neither close it nor try many wrong keys. */
const servedToAll = shared((atEnd) => serve({ 'a.md': 'a' }, {}, atEnd))

test('each request that does not fit gets the status that says why, and a sentence', async () => {
  const { server } = await servedToAll()
  const { id } = await RawSession.open(server)
  const inSession = { ...JSON_ONLY, 'Mcp-Session-Id': id }
  const cases: readonly (readonly [number, number, RawRequest])[] = [
    [403, -32000, { headers: { ...JSON_ONLY, Host: 'evil.example' }, body: INITIALIZE }],
    [403, -32000, { headers: { ...JSON_ONLY, Origin: 'https://evil.example' }, body: INITIALIZE }],
    [404, -32000, { path: '/', body: INITIALIZE }],
    [401, -32000, { path: '/mcp', body: INITIALIZE }],
    [401, -32000, { path: '/mcp?api_key=wrong', body: INITIALIZE }],
    [401, -32000, { path: '/mcp', headers: { ...JSON_ONLY, Authorization: 'Bearer wrong' }, body: INITIALIZE }],
    [405, -32000, { method: 'PUT', body: INITIALIZE }],
    [415, -32000, { headers: { 'Content-Type': 'text/plain' }, body: INITIALIZE }],
    [415, -32000, { headers: {}, body: INITIALIZE }],
    [415, -32000, { headers: { ...JSON_ONLY, 'Content-Encoding': 'gzip' }, body: INITIALIZE }],
    [400, -32602, { body: { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: 5 } } }],
    [406, -32000, { headers: { ...JSON_ONLY, Accept: 'text/html' }, body: INITIALIZE }],
    [406, -32000, { method: 'GET', headers: { Accept: 'application/json', 'Mcp-Session-Id': id } }],
    [413, -32000, { body: `"${'x'.repeat(5_000_000)}"` }],
    [400, -32700, { body: '{"jsonrpc":' }],
    [400, -32700, { body: '' }],
    [400, -32000, { body: LIST }],
    [400, -32000, { body: { jsonrpc: '2.0', method: 'notifications/initialized' } }],
    [400, -32000, { method: 'GET', headers: { Accept: 'text/event-stream' } }],
    [404, -32001, { headers: { ...JSON_ONLY, 'Mcp-Session-Id': 'mcp-session-unknown' }, body: LIST }],
    [400, -32600, { headers: inSession, body: [LIST] }],
    [400, -32000, { headers: { ...inSession, 'MCP-Protocol-Version': '1999-01-01' }, body: LIST }],
    [400, -32600, { headers: inSession, body: INITIALIZE }],
    [405, -32000, { method: 'GET', headers: { Accept: 'text/event-stream', 'MCP-Protocol-Version': '2026-07-28' } }],
    [405, -32000, { method: 'DELETE', headers: { 'MCP-Protocol-Version': '2026-07-28' } }],
    [400, -32020, { headers: { ...JSON_ONLY, 'MCP-Protocol-Version': '2026-07-28' }, body: MODERN_LIST }],
  ]
  for (const [status, code, request] of cases) {
    const answer = await raw(server, request)
    expect([answer.status, request]).toEqual([status, request])
    expect(JSON.parse(answer.text)).toMatchObject({ jsonrpc: '2.0', error: { code, message: expect.any(String) } })
  }
})

test('a client that sends many wrong keys must wait, and a right one still opens from the same address', async () => {
  const { server } = await serve({ 'a.md': 'a' })
  const offer = (key: string) =>
    raw(server, { path: '/mcp', headers: { ...JSON_ONLY, Authorization: `Bearer ${key}` }, body: INITIALIZE })
  const wrong = []
  for (let i = 0; i < 12; i++) wrong.push(await offer(`a-wrong-key-number-${i}`))
  expect(wrong.map(({ status }) => status)).toEqual([...Array.from({ length: 10 }, () => 401), 429, 429])
  expect(Number(wrong.at(-1)?.headers['retry-after'])).toBeGreaterThan(0)
  expect((await offer(KEY)).status).toBe(200)
  expect((await raw(server, { path: '/mcp', body: INITIALIZE })).status).toBe(401)
})

test('the answer to a wrong key says how to send a right one, and no redirect or log repeats it', async () => {
  const { server, log } = await servedToAll()
  const answer = await raw(server, { path: '/mcp?api_key=wrong', body: INITIALIZE })
  expect(answer.headers['www-authenticate']).toMatch(/^Bearer /)
  expect(answer.text).toMatch(/Authorization: Bearer/)
  expect(log.join('\n')).not.toMatch(/wrong/)
})

test('the key is accepted in each of its three places', async () => {
  const { server } = await servedToAll()
  const places = [{ Authorization: `Bearer ${KEY}` }, { 'X-API-Key': KEY }]
  for (const place of places) {
    expect((await raw(server, { path: '/mcp', headers: { ...JSON_ONLY, ...place }, body: INITIALIZE })).status).toBe(
      200,
    )
  }
  expect((await raw(server, { path: `/mcp?api_key=${KEY}`, body: INITIALIZE })).status).toBe(200)
})

test('where the key must not stand in the address, it does not open the door', async () => {
  const { server } = await serve({ 'a.md': 'a' }, { allowQueryKey: false })
  expect((await raw(server, { body: INITIALIZE })).status).toBe(401)
  const headers = { ...JSON_ONLY, 'X-API-Key': KEY }
  expect((await raw(server, { path: '/mcp', headers, body: INITIALIZE })).status).toBe(200)
})

test('pages of this machine may call, also by name [Z8]', async () => {
  const { server } = await servedToAll()
  const headers = { ...JSON_ONLY, Host: `localhost:${server.port}`, Origin: 'http://localhost:5173' }
  expect((await raw(server, { headers, body: INITIALIZE })).status).toBe(200)
})

test('a server on every address is reached by any of them, or by the name of its machine, and by no other name', async () => {
  const { server } = await serve({ 'a.md': 'a' }, { host: '0.0.0.0', insecureHttp: true })
  const local = await servedToAll()
  const asked = async (to: typeof server, host: string) => {
    const headers = { ...JSON_ONLY, 'X-API-Key': KEY, Host: `${host}:${server.port}` }
    return (await raw(to, { path: '/mcp', headers, body: INITIALIZE })).status
  }
  for (const host of ['192.0.2.7', '[2001:db8::7]', hostname()])
    expect([host, await asked(server, host)]).toEqual([host, 200])
  for (const host of ['evil.example', '192.0.2.7.evil.example', ''])
    expect([host, await asked(server, host)]).toEqual([host, 403])
  expect(await asked(local.server, '192.0.2.7')).toBe(403)
})

test('an older client may send several messages at once', async () => {
  const { server } = await servedToAll()
  const params = { ...INITIALIZE.params, protocolVersion: '2025-03-26' }
  const first = await raw(server, { body: { ...INITIALIZE, params } })
  const headers = { ...JSON_ONLY, 'Mcp-Session-Id': String(first.headers['mcp-session-id']) }
  const answer = await raw(server, { headers, body: [LIST, { ...LIST, id: 8 }] })
  expect(JSON.parse(answer.text)).toMatchObject([{ id: 7 }, { id: 8 }])
})

test('two sessions live beside each other, and the end of one is not the end of the other', async () => {
  const { server } = await servedToAll()
  const one = await RawSession.open(server)
  const two = await RawSession.open(server)
  expect(one.id).not.toBe(two.id)
  expect((await raw(server, { method: 'DELETE', headers: one.headers })).status).toBe(200)
  expect((await one.send(LIST)).status).toBe(404)
  expect((await raw(server, { method: 'DELETE', headers: one.headers })).status).toBe(404)
  expect((await two.send(LIST)).status).toBe(200)
})

test('a session belongs to the key that opened it', async () => {
  const other = 'another-key-for-this-test'
  const { server } = await serve({ 'a.md': 'a' }, { keys: [KEY, other] })
  const session = await RawSession.open(server)
  const answer = await raw(server, { path: `/mcp?api_key=${other}`, headers: session.headers, body: LIST })
  expect(answer.status).toBe(404)
  expect((await session.send(LIST)).status).toBe(200)
})

test('a session without requests is ended; one with an open stream is not', async () => {
  const { server } = await serve({ 'a.md': 'a' }, { sessionIdleMs: 200 })
  const { listening, stream } = await listeningTo(server)
  const quiet = await RawSession.open(server)
  await expect.poll(async () => (await quiet.send(LIST)).status, { interval: 400 }).toBe(404)
  expect((await listening.send(LIST)).status).toBe(200)
  stream.destroy()
})

/** A session with an open stream; on a busy machine the stream may come too late for the first one. */
async function listeningTo(server: RawSession['server']) {
  for (;;) {
    const listening = await RawSession.open(server)
    const headers = { Accept: 'text/event-stream', 'Mcp-Session-Id': listening.id }
    const stream = await opened(server, { path: `/mcp?api_key=${KEY}`, method: 'GET', headers })
    if (stream.statusCode === 200) return { listening, stream }
    expect(stream.resume().statusCode).toBe(404)
  }
}

test('a client that lost its stream of notifications gets another one', async () => {
  const { server } = await servedToAll()
  const { id } = await RawSession.open(server)
  const headers = { Accept: 'text/event-stream', 'Mcp-Session-Id': id }
  const listen = () => opened(server, { path: `/mcp?api_key=${KEY}`, method: 'GET', headers })
  const first = await listen()
  expect([first.statusCode, (await listen()).statusCode]).toEqual([200, 409])
  first.destroy()
  // The server may hear of the loss a little later than the client.
  await expect.poll(async () => (await listen()).statusCode).toBe(200)
  expect((await listen()).statusCode).toBe(409)
})

test('one session too many ends the one that was quiet for longest', async () => {
  const { server } = await serve({ 'a.md': 'a' }, { mostSessions: 2 })
  const [one, two] = [await RawSession.open(server), await RawSession.open(server)]
  await one.send(LIST)
  await RawSession.open(server)
  expect((await one.send(LIST)).status).toBe(200)
  expect((await two.send(LIST)).status).toBe(404)
})

test('closing ends streams and is done only once', async () => {
  const { server } = await serve({ 'a.md': 'a' })
  const session = await RawSession.open(server)
  const headers = { Accept: 'text/event-stream', 'Mcp-Session-Id': session.id }
  const stream = await opened(server, { path: `/mcp?api_key=${KEY}`, method: 'GET', headers })
  const ended = new Promise((resolve) => stream.on('error', resolve).on('close', resolve))
  await server.close()
  await server.close()
  await ended
  await expect(raw(server, { body: INITIALIZE })).rejects.toThrow(/ECONNREFUSED/)
})

test('a request of the newest revision needs no session', async () => {
  const { server } = await servedToAll()
  const headers = { ...JSON_ONLY, 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/list' }
  const answer = await raw(server, { headers, body: MODERN_LIST })
  expect(answer.status).toBe(200)
  expect(answer.headers['mcp-session-id']).toBeUndefined()
  expect(JSON.parse(answer.text)).toMatchObject({ id: 7, result: { tools: [{}, {}, {}, {}, {}] } })
})

test('what cannot be served is refused at the start', async () => {
  const { server, directory } = await servedToAll()
  const refused = (options: Parameters<typeof serve>[1], code: string) =>
    expect(serve({}, options)).rejects.toMatchObject({ code })
  await refused({ port: server.port }, 'DOCS_LISTEN')
  await refused({ directories: [] }, 'DIRECTORY_MISSING')
  await refused({ directories: [`${directory}/a.md`] }, 'DIRECTORY_MISSING')
  await refused({ keys: [] }, 'DOCS_KEY_MISSING')
  await refused({ keys: ['demo-mcp-api-key'], host: '0.0.0.0' }, 'DOCS_KEY_WEAK')
})

test('when the index cannot run, a search says so instead of finding nothing', async () => {
  const { server } = await serve({ 'a.md': 'a' }, { workerUrl: new URL('file:///no/such/worker.mjs') })
  const session = await RawSession.open(server)
  const answer = await session.call('search_documents', { query: 'a' })
  expect(answer).toMatchObject({ isError: true, content: [{ text: expect.stringMatching(/cannot be searched now/) }] })
})

test('when the index dies it is made anew, and what was asked of the old one is refused', async () => {
  const workerUrl = new URL('../fixtures/docs-search/mortal-worker.mjs', import.meta.url)
  const { server, log } = await serve({ 'a.md': 'alpha', 'b.md': 'alpha' }, { workerUrl })
  const session = await RawSession.open(server)
  const { nextCursor } = await search(session, { query: 'alpha', limit: 1 })
  for (let death = 1; death <= 2; death++) {
    expect(await session.call('search_documents', { query: 'die' })).toMatchObject({ isError: true })
    await expect
      .poll(() => session.call('search_documents', { query: 'alpha' }))
      .toMatchObject({
        structuredContent: { total: 2 },
      })
  }
  expect(log.filter((line) => line.includes('it is started again'))).toHaveLength(2)
  const late = await session.call('search_documents', { query: 'alpha', limit: 1, cursor: nextCursor })
  expect(late).toMatchObject({ isError: true, content: [{ text: expect.stringMatching(/changed/) }] })
})
