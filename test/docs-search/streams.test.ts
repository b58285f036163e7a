import type { IncomingMessage } from 'node:http'
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { closeAfterEach, directoryWith, INITIALIZE, KEY, messagesOf, opened, raw, RawSession, serve } from './served.ts'

closeAfterEach()

const BOTH = 'application/json, text/event-stream'
const NEWEST = { ...INITIALIZE, params: { ...INITIALIZE.params, protocolVersion: '2025-11-25' } }

function stream(session: RawSession, headers: Readonly<Record<string, string>> = {}): Promise<IncomingMessage> {
  return opened(session.server, {
    path: session.path,
    method: 'GET',
    headers: { Accept: 'text/event-stream', 'Mcp-Session-Id': session.id, ...headers },
  })
}

test('a client that reads streams is answered in one that can be gone back to; one that does not, in one piece', async () => {
  const { server } = await serve({ 'a.md': 'alpha' })
  const headers = { 'Content-Type': 'application/json', Accept: BOTH }
  const first = await raw(server, { headers, body: NEWEST })
  expect(first.headers).toMatchObject({ 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' })
  expect(first.text).toMatch(/^id: \S+\nretry: \d+\ndata: \n\n(?:event: message\n)?id: \S+/m)
  const session = new RawSession(server, String(first.headers['mcp-session-id']))
  const call = { jsonrpc: '2.0', id: 2, method: 'ping' }
  const streamed = await raw(server, { headers: { ...headers, 'Mcp-Session-Id': session.id }, body: call })
  expect(streamed.headers['content-type']).toBe('text/event-stream')
  const whole = await session.send(call)
  expect([whole.headers['content-type'], whole.text]).toEqual([
    'application/json',
    '{"jsonrpc":"2.0","id":2,"result":{}}',
  ])
})

test('an answer whose stream was lost is given again, once, to who goes back to it', async () => {
  const { server } = await serve({ 'a.md': 'alpha' })
  const session = await RawSession.open(server)
  const headers = { ...session.headers, Accept: BOTH, 'MCP-Protocol-Version': '2025-11-25' }
  const answer = await raw(server, { headers, body: { jsonrpc: '2.0', id: 9, method: 'tools/list' } })
  const ids = [...answer.text.matchAll(/^id: (.*)$/gm)].map(([, id]) => id ?? '')
  expect(ids).toHaveLength(2)
  // What went over other streams meanwhile is not for this one.
  await raw(server, { headers, body: { jsonrpc: '2.0', id: 10, method: 'ping' } })
  // The stream was cut behind its first event, which is empty.
  const again = await stream(session, { 'Last-Event-ID': ids[0] ?? '' })
  const messages: string[] = []
  for await (const message of messagesOf(again)) messages.push(message)
  expect(messages).toHaveLength(1)
  expect(JSON.parse(messages[0] ?? '')).toMatchObject({ id: 9, result: { tools: expect.any(Array) } })
  expect((await stream(session, { 'Last-Event-ID': 'of-another-session' })).statusCode).toBe(400)
})

test('news that came while the stream of notifications was lost arrives when it is back, and only once', async () => {
  const parent = await directoryWith({ 'one/a.md': 'alpha', 'two/a.md': 'alpha' })
  const { server } = await serve({}, { directories: [join(parent, 'one'), join(parent, 'two')] })
  const session = await RawSession.open(server)
  const changed = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'
  let last = ''
  const first = await stream(session)
  const news = messagesOf(first, (id) => (last = id))
  await rename(join(parent, 'two'), join(parent, 'gone'))
  await expect(nextOf(news, changed)).resolves.toBe(changed)
  first.destroy()
  await rename(join(parent, 'gone'), join(parent, 'two'))
  const names = async () => JSON.stringify(await session.request('tools/list'))
  await expect.poll(names).toContain('"enum":["one","two"]')
  const second = await comeBack(session, last)
  const missed = messagesOf(second)
  await expect(nextOf(missed, changed)).resolves.toBe(changed)
  // Only what came after is given again: the first piece of news is not.
  await rename(join(parent, 'one'), join(parent, 'gone'))
  await expect(nextOf(missed, changed)).resolves.toBe(changed)
  expect(JSON.stringify(await session.request('tools/list'))).toContain('"enum":["two"]')
  second.destroy()
})

/** The server may hear of the loss a little later than the client. */
async function comeBack(session: RawSession, last: string): Promise<IncomingMessage> {
  for (;;) {
    const answer = await stream(session, { 'Last-Event-ID': last })
    if (answer.statusCode !== 409) return answer
    answer.destroy()
  }
}

async function nextOf(messages: AsyncGenerator<string>, wanted: string): Promise<string> {
  for (;;) {
    const { value, done } = await messages.next()
    if (done === true) return 'the stream ended'
    if (value === wanted) return value
  }
}

test('a key in the wrong place opens no stream', async () => {
  const { server } = await serve({ 'a.md': 'a' })
  const { id } = await RawSession.open(server)
  const headers = { Accept: 'text/event-stream', 'Mcp-Session-Id': id }
  expect((await opened(server, { path: '/mcp', method: 'GET', headers })).statusCode).toBe(401)
  expect((await opened(server, { path: `/mcp?api_key=${KEY}`, method: 'GET', headers })).statusCode).toBe(200)
})
