/** Attacks on the port of remote clients, byte by byte, against the real binary; `docs/internals/attacks.md` lists them. */
import { type Socket, connect } from 'node:net'
import { beforeAll, describe, expect, test } from 'vitest'
import { until } from '../fixtures/process/running.ts'
import { nextBytes } from '../wire/next-bytes.ts'
import { RawWebSocket } from '../wire/raw-web-socket.ts'
import { onceSoon } from '../wire/once-soon.ts'
import { type Remote, remote } from './remote-place.ts'
import { cleanUpSharedServers } from './server.ts'

cleanUpSharedServers()

let server: Remote
let token: string

beforeAll(async () => {
  server = await remote()
  token = server.token('admin')
})

/** What the server answers to these bytes until it closes, or says anything at all. */
async function answerTo(bytes: string, until: 'closed' | 'an answer' = 'closed'): Promise<string> {
  const socket = opened()
  let answer = ''
  socket.setEncoding('latin1').on('data', (text: string) => (answer += text))
  socket.write(bytes, 'latin1')
  await Promise.race([onceSoon(socket, 'close'), ...(until === 'closed' ? [] : [onceSoon(socket, 'data')])])
  socket.destroy()
  return answer
}

function opened(): Socket {
  return connect(server.port, '127.0.0.1').on('error', () => undefined)
}

interface Asked {
  readonly line?: string
  readonly host?: string
  readonly headers?: readonly string[]
  readonly body?: string
}

/** With everything right that is not said otherwise. */
function request({ line = 'GET /acp', host = `127.0.0.1:${server.port}`, headers = [], body = '' }: Asked): string {
  const lines = [`${line} HTTP/1.1`, `Host: ${host}`, 'Connection: close', ...headers]
  return `${lines.join('\r\n')}\r\n\r\n${body}`
}

const bearer = (): string => `Authorization: Bearer ${token}`
const cookie = (): string => `Cookie: parley-${server.port}=${token}`
const UPGRADE = [
  'Upgrade: websocket',
  'Connection: Upgrade',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
]
const JSON_TYPE = 'Content-Type: application/json'
const INITIALIZE = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}'
const length = (body: string): string => `Content-Length: ${Buffer.byteLength(body)}`

/** By name: what is sent, and the status that answers it. */
const requests: readonly (readonly [name: string, asked: () => Asked, status: number])[] = [
  ['a name that was made to lead here (rebinding)', () => ({ host: 'evil.example', headers: [bearer()] }), 421],
  ['the same with the right port', () => ({ host: `evil.example:${server.port}`, headers: [bearer()] }), 421],
  [
    'a forged X-Forwarded-Host',
    () => ({ host: 'evil.example', headers: [bearer(), `X-Forwarded-Host: localhost`] }),
    421,
  ],
  ['a user in the host', () => ({ host: `evil@127.0.0.1:${server.port}`, headers: [bearer()] }), 421],
  ['a foreign origin', () => ({ headers: [bearer(), 'Origin: http://evil.example'] }), 403],
  ['the origin null', () => ({ headers: [bearer(), 'Origin: null'] }), 403],
  ['a POST of a foreign page', () => post([cookie(), 'Origin: http://evil.example', JSON_TYPE]), 403],
  ['a POST with a cookie and no origin', () => post([cookie(), JSON_TYPE]), 403],
  ['a form of a foreign page', () => post([cookie(), 'Origin: http://evil.example', 'Content-Type: text/plain']), 403],
  ['a token in the address', () => ({ line: `GET /acp?token=${token}` }), 401],
  ['a forged Tailscale-User-Login', () => ({ headers: ['Tailscale-User-Login: owner@example.com'] }), 401],
  ['a forged X-Forwarded-For of loopback', () => ({ headers: ['X-Forwarded-For: 127.0.0.1', 'X-Real-IP: ::1'] }), 401],
  ['a wrong token beside a right cookie', () => ({ headers: ['Authorization: Bearer x', cookie()] }), 401],
  ['headers of 20 KB', () => ({ headers: [bearer(), `X-Big: ${'x'.repeat(20_000)}`] }), 431],
  ['three thousand headers', () => ({ headers: Array.from({ length: 3_000 }, (_, n) => `X-${n}: 1`) }), 431],
  ['a NUL in a header', () => ({ headers: [bearer(), 'X-A: a\0b'] }), 400],
  ['a line break in a header', () => ({ headers: [bearer(), 'X-A: a\rX-B: b'] }), 400],
  ['a blank before a colon (smuggling)', () => ({ headers: [bearer(), 'Content-Length : 5'] }), 400],
  [
    'two lengths (smuggling)',
    () => ({ line: 'POST /acp', headers: ['Content-Length: 5', 'Content-Length: 6'], body: 'abcdef' }),
    400,
  ],
  [
    'a length and chunks (smuggling)',
    () => ({ line: 'POST /acp', headers: ['Content-Length: 5', 'Transfer-Encoding: chunked'], body: '0\r\n\r\n' }),
    400,
  ],
  [
    'chunks that are not the last coding (smuggling)',
    () => ({ line: 'POST /acp', headers: ['Transfer-Encoding: chunked, identity'], body: '0\r\n\r\n' }),
    400,
  ],
  [
    'a body of 64 MiB, said beforehand',
    () => ({ line: 'POST /acp', headers: [bearer(), JSON_TYPE, 'Content-Length: 67108864'] }),
    413,
  ],
  [
    'an endless body',
    () => ({
      line: 'POST /acp',
      headers: [bearer(), JSON_TYPE, 'Transfer-Encoding: chunked'],
      body: `20000\r\n${'x'.repeat(0x20000)}\r\n`,
    }),
    413,
  ],
  ['a compressed body', () => post([bearer(), JSON_TYPE, 'Content-Encoding: gzip']), 415],
  ['TRACE', () => ({ line: 'TRACE /acp', headers: [bearer()] }), 405],
  [
    'an upgrade to HTTP/2 in plain text',
    () => ({ headers: [bearer(), 'Upgrade: h2c', 'Connection: Upgrade, HTTP2-Settings', 'HTTP2-Settings: AA'] }),
    400,
  ],
  ['an upgrade of another path', () => ({ line: 'GET /healthz', headers: [bearer(), ...UPGRADE] }), 404],
  ['an upgrade without a key', () => ({ headers: [bearer(), ...UPGRADE.slice(0, 3)] }), 400],
  [
    'an upgrade of a foreign page with a cookie',
    () => ({ headers: [cookie(), 'Origin: http://evil.example', ...UPGRADE] }),
    403,
  ],
]

function post(headers: readonly string[]): Asked {
  return { line: 'POST /acp', headers: [...headers, length(INITIALIZE)], body: INITIALIZE }
}

test.each(requests)('%s is refused', async (_name, asked, status) => {
  const answer = await answerTo(request(asked()), 'an answer')
  expect(answer.slice(0, 12)).toBe(`HTTP/1.1 ${status}`)
  expect(answer).not.toContain(token)
})

test.each([
  '/acp/',
  '//acp',
  '/./acp',
  '/x/../acp',
  '/%61cp',
  '/acp%00',
  '/acp;x',
  '/ACP',
  'http://evil.example/acp',
  '\\acp',
  '/..%2facp',
])('the path %s is no way in', async (path) => {
  const answer = await answerTo(request({ line: `GET ${path}`, headers: [bearer()] }))
  expect(answer).toMatch(/^HTTP\/1\.1 40[04] /u)
})

describe('a WebSocket', () => {
  /** The close code that answers these bytes of frames. */
  async function closeOf(frames: Buffer): Promise<number> {
    const socket = opened()
    socket.write(request({ headers: [bearer(), ...UPGRADE] }).replace('Connection: close\r\n', ''))
    await nextBytes(socket)
    socket.write(frames)
    const bytes = await nextBytes(socket)
    socket.destroy()
    return bytes.readUInt16BE(2)
  }

  const mask = Buffer.alloc(4)
  test.each([
    ['a frame of 64 MiB, said beforehand', Buffer.from([0x81, 0xff, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0]), 1009],
    ['a frame without a mask', Buffer.from([0x81, 2, 0x7b, 0x7d]), 1002],
    [
      'a compressed frame that nobody agreed on',
      Buffer.concat([Buffer.from([0xc1, 0x82]), mask, Buffer.from('{}')]),
      1002,
    ],
    ['text that is not UTF-8', Buffer.concat([Buffer.from([0x81, 0x82]), mask, Buffer.from([0xc3, 0x28])]), 1007],
    ['a binary frame', Buffer.concat([Buffer.from([0x82, 0x82]), mask, Buffer.from('{}')]), 1003],
  ])('with %s is closed', async (_name, frames, code) => {
    expect(await closeOf(frames)).toBe(code)
  })
})

test('more connections that are silent than may be open keep no client out', async () => {
  const client = await RawWebSocket.greeted(server.url, token)
  const silent: Socket[] = []
  const answered = new Set<Socket>()
  while (silent.length < 1_500) {
    const wave = Array.from({ length: 250 }, opened)
    for (const socket of wave) socket.on('data', () => answered.add(socket))
    await Promise.all(wave.map((socket) => onceSoon(socket, 'connect')))
    silent.push(...wave)
    // The kernel keeps some hundreds in line for the server, and would let others wait for a second or more.
    const last = opened()
    last.write(request({ line: 'GET /' }))
    await nextBytes(last)
    last.destroy()
  }
  // The oldest were let go, and not because their ten seconds were over, which is said.
  const letGo = () => silent.filter((socket) => socket.closed && !answered.has(socket))
  await until(() => letGo().length >= 1_500 - 1_024)
  expect((await client.request('session/list', {})).error).toBeUndefined()
  const other = await RawWebSocket.greeted(server.url, server.token('read', 'another'))
  expect((await client.request('session/list', {})).error).toBeUndefined()
  for (const socket of silent) socket.destroy()
  client.cut()
  other.cut()
})
