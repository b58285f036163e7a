/** A browser or a program is paired with the server by a link, comes back with what it got, and leaves. */
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect as connectTo } from 'node:net'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { Credentials } from '../../src/credentials/key-ring.ts'
import { RawWebSocket } from '../wire/raw-web-socket.ts'
import { type Place, cleanUpSharedServers, logOf, placeWith, start } from './server.ts'

cleanUpSharedServers()

let place: Place
let origin: string
let credentials: Credentials

beforeAll(async () => {
  place = await placeWith()
  const cli = start(place, ['serve', '--listen', '0', '--public-url', 'https://parley.example/base'])
  await cli.until('/acp')
  origin = `http://127.0.0.1:${/127\.0\.0\.1:(\d+)/u.exec(cli.stdout)?.[1]}`
  credentials = new Credentials(place.home, Date)
})

const port = () => new URL(origin).port
const offer = () => credentials.devices.offer({ role: 'approve' }).code

async function post(path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) {
  const response = await fetch(`${origin}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  const text = await response.text()
  const about = response.ok ? (JSON.parse(text) as Readonly<Record<string, unknown>>) : {}
  return { status: response.status, cookie: response.headers.get('set-cookie') ?? '', text, about }
}

/** The status of an upgrade, or the close code of a connection that the server ends. */
async function connect(headers: Readonly<Record<string, string>>, path = '/acp') {
  const socket = new WebSocket(`${origin.replace('http', 'ws')}${path}`, { headers })
  const status = await new Promise<number>((resolve) => {
    socket.once('open', () => resolve(101))
    socket.once('unexpected-response', (_request, { statusCode = 0 }) => resolve(statusCode))
  })
  const closed = new Promise<number>((resolve) => socket.once('close', resolve))
  return { status, closed, socket }
}

const valueOf = (cookie: string) => cookie.slice(0, cookie.indexOf(';'))

test('a page gets a cookie that its scripts cannot read, once, and it counts only from the page', async () => {
  const code = offer()
  const { status, cookie, about, text } = await post('/pair', { code, name: 'Firefox' }, { origin })
  expect({ status, about }).toEqual({
    status: 200,
    about: { kind: 'device', name: 'Firefox', role: 'approve', scope: 'all' },
  })
  expect(cookie).toMatch(
    new RegExp(`^parley-${port()}=parley_[\\w-]{43}; Path=/; Max-Age=34560000; HttpOnly; SameSite=Strict$`, 'u'),
  )
  expect(text).not.toContain('parley_')
  expect(await post('/pair', { code, name: 'Firefox' }, { origin })).toMatchObject({ status: 401, cookie: '' })

  const jar = { cookie: `other=1; ${valueOf(cookie)}` }
  expect((await connect({ ...jar, origin })).status).toBe(101)
  expect((await connect(jar)).status).toBe(403)
  expect((await connect({ ...jar, origin: 'http://evil.example' })).status).toBe(403)
  expect((await connect({ ...jar, 'sec-fetch-site': 'same-origin' })).status).toBe(403)

  const other = await connect({ ...jar, origin })
  expect((await post('/leave', '', jar)).status).toBe(403)
  const left = await post('/leave', '', { ...jar, origin })
  expect(left).toMatchObject({ status: 200, cookie: `parley-${port()}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict` })
  expect(await other.closed).toBe(4401)
  expect((await connect({ ...jar, origin })).status).toBe(401)
})

test('a cookie that is valid no more is taken back once, so that a page that asks on uses up no tries', async () => {
  const { cookie } = await post('/pair', { code: offer(), name: 'lost' }, { origin })
  const jar = { cookie: valueOf(cookie), origin }
  expect(await post('/device', '', jar)).toMatchObject({ status: 200, cookie: '', about: { known: true } })
  credentials.devices.remove('lost')
  const taken = `parley-${port()}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict`
  const gone = { status: 200, cookie: taken, about: { known: false } }
  await expect.poll(() => post('/device', '', jar)).toMatchObject(gone)
  expect(await post('/device', '', { origin })).toMatchObject({ status: 200, cookie: '', about: { known: false } })
})

test('a program gets a token', async () => {
  const { about, cookie } = await post('/pair', { code: offer(), name: 'laptop' })
  expect({ about, cookie }).toMatchObject({
    about: { name: 'laptop', token: expect.stringMatching(/^parley_/u) as string },
    cookie: '',
  })
  const client = await RawWebSocket.greeted(`${origin.replace('http', 'ws')}/acp`, String(about['token']))
  credentials.devices.remove('laptop')
  expect((await client.closed)[0]).toBe(4401)
})

test('a page that follows a share link keeps the cookie of its device, and is cut when the link ends', async () => {
  const device = valueOf((await post('/pair', { code: offer(), name: 'x' }, { origin })).cookie)
  const { code, link } = credentials.shares.add({ sessionId: 's1', tools: true, forMs: 60 * 60_000 })
  const shared = await post('/pair', { code }, { origin })
  expect(shared.about).toEqual({
    kind: 'share',
    share: link.id,
    sessionId: 's1',
    until: link.until,
    tools: true,
    role: 'read',
  })
  expect(shared.cookie).toMatch(
    new RegExp(`^parley-${port()}-${link.id}=[\\w-]{26}; Path=/; Max-Age=(?:3600|35\\d\\d); HttpOnly`, 'u'),
  )
  const jar = { cookie: `${device}; ${valueOf(shared.cookie)}`, origin }
  const follower = await connect(jar, `/acp?share=${link.id}`)
  const owner = await connect(jar)
  expect([follower.status, owner.status]).toEqual([101, 101])
  credentials.shares.remove(link.id)
  expect(await follower.closed).toBe(4401)
  expect(owner.socket.readyState).toBe(WebSocket.OPEN)
  expect((await connect(jar, `/acp?share=${link.id}`)).status).toBe(401)
})

test('behind a proxy with TLS the cookie is for that path, and only sent there', async () => {
  const socket = connectTo(Number(port()), '127.0.0.1')
  const body = JSON.stringify({ code: offer(), name: 'x' })
  const head = [
    'POST /base/pair HTTP/1.1',
    'Host: parley.example',
    'Origin: https://parley.example',
    'Connection: close',
  ]
  socket.write(
    `${head.join('\r\n')}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  )
  let answer = ''
  socket.setEncoding('utf8').on('data', (text: string) => (answer += text))
  await once(socket, 'close')
  expect(answer).toMatch(
    /^HTTP\/1\.1 200 .*Set-Cookie: parley-\d+=\S+; Path=\/base\/; .*; SameSite=Strict; Secure\r\n/su,
  )
})

test('what is no code is refused in one sentence, and wrong ones are limited', async () => {
  for (const body of ['', '{', '[]', '{"code":7}', 'null']) expect((await post('/pair', body)).status).toBe(400)
  expect((await post('/pair', { code: offer() }, { origin: 'http://evil.example' })).status).toBe(403)
  expect((await post('/pair', 'code=x', { 'content-type': 'application/x-www-form-urlencoded' })).status).toBe(415)
  expect((await post('/pair', 'x'.repeat(5_000))).status).toBe(413)
  expect((await fetch(`${origin}/pair`)).status).toBe(405)
  const wrong = await post('/pair', { code: 'x'.repeat(26) })
  expect(wrong).toMatchObject({ status: 401, text: expect.stringContaining('parley pair') as string })
  const token = credentials.tokens.add('script', 'read')
  expect((await post('/leave', '', { authorization: `Bearer ${token}` })).status).toBe(403)
  const statuses: number[] = []
  for (let tries = 0; tries < 12; tries += 1) statuses.push((await post('/pair', { code: 'x'.repeat(26) })).status)
  expect(statuses.at(-1)).toBe(429)
  // Codes, tokens and tickets are counted together.
  expect((await connect({ authorization: 'Bearer wrong' })).status).toBe(429)
  expect((await post('/pair', { code: offer() })).status).toBe(200)
})

test('a damaged file is said in one line, and the log says which; nothing of a secret is in it', async () => {
  const code = offer()
  writeFileSync(join(place.home, 'devices.json'), '{"devices"')
  expect(await post('/pair', { code })).toMatchObject({
    status: 500,
    text: expect.stringMatching(/^The server .*\n$/u) as string,
  })
  await expect.poll(() => logOf(place)).toContain('devices.json cannot be used')
  expect(logOf(place)).not.toContain(code)
})
