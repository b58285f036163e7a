/** Limits of remote clients that settings can move, on the real binary: each is said in a sentence when it is reached. */
import { request } from 'node:http'
import { expect, test } from 'vitest'
import { HttpClient } from '../wire/raw-http.ts'
import { RawWebSocket } from '../wire/raw-web-socket.ts'
import { remote } from './remote-place.ts'
import { cleanUpServers } from './server.ts'

cleanUpServers()

test('requests of one token beyond what a second allows are told to wait; those of another are not', async () => {
  const { url, token } = await remote([], { env: { PARLEY_REMOTE_REQUESTS_PER_SECOND: '1' } })
  const [hasty, other] = [new HttpClient(url, token('read', 'hasty')), new HttpClient(url, token('read', 'other'))]
  let [refused, asked] = [await hasty.ask('GET', {}), 1]
  for (; refused.status !== 429 && asked < 500; asked += 1) refused = await hasty.ask('GET', {})
  // Ten at once, and what the time in between allowed.
  expect(asked).toBeGreaterThan(10)
  expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': '1' } })
  expect(refused.text).toMatch(/too many requests\. Try again in 1 s\.\n$/u)
  expect((await other.ask('GET', {})).status).toBe(406)
})

test('new sessions beyond what a minute allows are refused, over every transport of the same token', async () => {
  const { url, token, place } = await remote([], { env: { PARLEY_REMOTE_SESSIONS_PER_MINUTE: '2' } })
  const right = token('admin')
  const [ada, bob] = [await RawWebSocket.greeted(url, right), await RawWebSocket.greeted(url, right)]
  const opening = { cwd: place.cwd, mcpServers: [] }
  expect((await ada.request('session/new', opening)).error).toBeUndefined()
  expect((await bob.request('session/new', opening)).error).toBeUndefined()
  const { error } = await ada.request('session/new', opening)
  expect(error?.data).toMatchObject({ code: 'NEW_SESSIONS_LIMIT', retryable: true })
  expect(error?.message).toContain('remote_sessions_per_minute')
  expect((await ada.request('session/list', {})).error).toBeUndefined()
})

test('bodies that are on their way together are bounded, for each token', async () => {
  const { url, token } = await remote()
  const [right, other] = [token('admin', 'one'), token('admin', 'two')]
  const hello = JSON.stringify({
    jsonrpc: '2.0',
    id: 0,
    method: 'initialize',
    params: { protocolVersion: 1, clientCapabilities: {} },
  })
  const connectionOf = async (one: string): Promise<Readonly<Record<string, string>>> => {
    const { headers } = await new HttpClient(url, one).post(hello)
    return { 'acp-connection-id': String(headers['acp-connection-id']) }
  }
  const own = await connectionOf(right)
  const large = { ...own, authorization: `Bearer ${right}`, 'content-type': 'application/json' }
  // Four messages of the largest size, of which the last byte never comes.
  const slow = Array.from({ length: 4 }, () => {
    const headers = { ...large, 'content-length': String(16 * 1024 * 1024) }
    const sent = request(url.replace(/^ws/u, 'http'), { method: 'POST', headers, agent: false })
    sent.on('error', () => undefined)
    sent.write('{')
    return sent
  })
  const note = JSON.stringify({ jsonrpc: '2.0', method: '$/ping' })
  const client = new HttpClient(url, right)
  const refused = { status: 503, text: expect.stringContaining('send this again in a moment') as string }
  await expect.poll(() => client.post(note, own)).toMatchObject(refused)
  expect(await new HttpClient(url, other).post(note, await connectionOf(other))).toMatchObject({ status: 202 })
  for (const one of slow) one.destroy()
  await expect.poll(async () => (await client.post(note, own)).status).toBe(202)
})

test('a page of an allowed origin comes in with a token and can read the answer; with a cookie it cannot', async () => {
  const { url, port, token } = await remote(['--allow-origin', 'https://app.example'])
  const right = token('read')
  const origin = 'https://app.example'
  const page = new HttpClient(url, right, { origin })
  expect(await page.ask('GET', {})).toMatchObject({ status: 406, headers: { 'access-control-allow-origin': origin } })
  const asked = { 'access-control-request-method': 'POST' }
  const preflight = await page.ask('OPTIONS', asked)
  expect(preflight).toMatchObject({ status: 204, headers: { 'access-control-allow-origin': origin } })
  expect(preflight.headers['access-control-allow-credentials']).toBeUndefined()
  const other = new HttpClient(url, right, { origin: 'https://other.example' })
  expect((await other.ask('OPTIONS', asked)).headers['access-control-allow-origin']).toBeUndefined()
  expect((await other.ask('GET', {})).status).toBe(403)
  const tricked = new HttpClient(url, undefined, { origin, cookie: `parley-${port}=${right}` })
  expect((await tricked.ask('GET', {})).status).toBe(403)
})
