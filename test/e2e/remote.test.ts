/** Clients over WebSocket, against the real binary on loopback: who gets in, what they are told, and when they are cut. */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { AccessTokens } from '../../src/credentials/access-tokens.ts'
import { logPathIn } from '../../src/server/log/log-line.ts'
import { until } from '../fixtures/process/running.ts'
import { nextBytes } from '../wire/next-bytes.ts'
import { RawWebSocket } from '../wire/raw-web-socket.ts'
import { onceSoon } from '../wire/once-soon.ts'
import { parley } from './cli.ts'
import { textOf, updatesIn } from './message.ts'
import { newSession, promptOf } from './parley.ts'
import { RawSocket } from './raw-socket.ts'
import { type Remote, remote, remoteProcess } from './remote-place.ts'
import { cleanUpServers, pidIn, placeWith, requirePid } from './server.ts'

cleanUpServers()

/** For tests that neither end it nor use up its patience with wrong tokens. */
let shared: Remote
beforeAll(async () => {
  shared = await remote()
})

/** The whole answer to the bytes of one request. */
async function ask(port: number, lines: readonly string[], body = ''): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  let answer = ''
  socket.setEncoding('utf8').on('data', (text: string) => (answer += text))
  socket.on('error', () => undefined)
  socket.write(`${lines.join('\r\n')}\r\nConnection: close\r\n\r\n${body}`)
  await onceSoon(socket, 'close')
  return answer
}

const UPGRADE = [
  'Upgrade: websocket',
  'Connection: Upgrade',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
]

/** The status of an upgrade, by what its headers say. */
async function upgrade(port: number, headers: readonly string[], path = '/acp'): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write(`GET ${path} HTTP/1.1\r\n${[...UPGRADE, ...headers].join('\r\n')}\r\n\r\n`)
  const bytes = await nextBytes(socket)
  socket.destroy()
  return bytes.toString()
}

test.concurrent('a session is started, prompted and followed by two clients, each frame one message', async () => {
  const { place, url, token } = shared
  const local = await RawSocket.open(place.socket, { agent: place.agent })
  const sessionId = await newSession(local, place.cwd)
  const [ada, bob] = [
    await RawWebSocket.greeted(url, token('prompt')),
    await RawWebSocket.greeted(url, token('read'), ['parley.lines.v1', 'acp.v1']),
  ]
  expect([ada.socket.protocol, bob.socket.protocol]).toEqual(['', 'parley.lines.v1'])
  const opening = { sessionId, cwd: place.cwd, mcpServers: [] }
  for (const client of [ada, bob]) await client.request('session/load', opening)
  // As some bridges send it: several lines in one frame, and a newline at its end.
  ada.socket.send(
    `\n${JSON.stringify({ jsonrpc: '2.0', id: 'p', method: 'session/prompt', params: promptOf(sessionId, 'Hi') })}\n`,
  )
  expect((await ada.answerTo('p')).result).toEqual({ stopReason: 'end_turn' })
  await bob.until((message) => updatesIn([message]).map(textOf).join('').includes('Hello.'))
  expect(updatesIn(ada.received).map(textOf).join('')).toContain('Hello.')
  const refused = await bob.request('session/prompt', promptOf(sessionId, 'Hi'))
  expect(refused.error?.data).toMatchObject({ code: 'ROLE_TOO_LOW' })
  await local.leave()
})

describe.concurrent('a request', () => {
  test.concurrent('needs a host, an origin and a token that are right, on loopback too; /healthz needs nothing', async () => {
    const { port, token } = await remote()
    const right = token('read')
    const bearer = `Authorization: Bearer ${right}`
    const host = `Host: 127.0.0.1:${port}`
    const statusOf = async (...headers: readonly string[]) => (await upgrade(port, headers)).slice(9, 12)
    expect(await statusOf(host, bearer)).toBe('101')
    expect(await statusOf(`Host: localhost:${port}`, bearer, `Origin: http://localhost:${port}`)).toBe('101')
    expect(await statusOf(host, `Sec-WebSocket-Protocol: acp.v1, bearer.${right}`)).toBe('101')
    expect(await statusOf(host)).toBe('401')
    expect(await statusOf(host, `${bearer}x`)).toBe('401')
    expect(await statusOf(host, 'Authorization: Basic eDp5', `Sec-WebSocket-Protocol: bearer.${right}`)).toBe('401')
    for (const foreign of ['evil.example', `evil.example:${port}`, '169.254.1.1', 'x@localhost', ''])
      expect(await statusOf(`Host: ${foreign}`, bearer)).toBe('421')
    for (const foreign of ['http://evil.example', 'null', `https://127.0.0.1:${port}`, 'http://127.0.0.1'])
      expect(await statusOf(host, bearer, `Origin: ${foreign}`)).toBe('403')
    expect(await upgrade(port, [host], `/acp?token=${right}`)).toMatch(/^HTTP\/1\.1 401 .*Bearer TOKEN/su)
    expect(await ask(port, ['GET /healthz HTTP/1.1', 'Host: x'])).toMatch(/^HTTP\/1\.1 200 .*\r\n\r\nok\n$/su)
    expect(await ask(port, ['GET /nothing HTTP/1.1', host])).toMatch(/^HTTP\/1\.1 401 /u)
    expect(await ask(port, ['GET /nothing HTTP/1.1', host, bearer])).toMatch(/^HTTP\/1\.1 404 /u)
    expect(await ask(port, ['POST /acp HTTP/1.1', host, bearer])).toMatch(/^HTTP\/1\.1 415 /u)
  })

  test.concurrent('with an eleventh wrong token is told to wait, and one with the right token is not', async () => {
    const { port, token } = await remote()
    const host = `Host: 127.0.0.1:${port}`
    const statuses: string[] = []
    for (let times = 0; times < 11; times += 1)
      statuses.push((await upgrade(port, [host, 'Authorization: Bearer wrong'])).slice(9, 12))
    expect(statuses).toEqual([...Array<string>(10).fill('401'), '429'])
    expect((await upgrade(port, [host, `Authorization: Bearer ${token('read')}`])).slice(9, 12)).toBe('101')
  })

  test.concurrent('never has its token echoed', async () => {
    const { port, token } = shared
    const right = token('read')
    const headers = [`Host: 127.0.0.1:${port}`, `Sec-WebSocket-Protocol: bearer.${right}, acp.v1`]
    const answer = await upgrade(port, headers)
    expect(answer).toMatch(/^HTTP\/1\.1 101 .*Sec-WebSocket-Protocol: acp\.v1\r\n/su)
    expect(answer).not.toContain(right)
  })
})

describe.concurrent('a connection', () => {
  test.concurrent('is cut when its token is removed, and when that gets another role', async () => {
    const { place, url, token } = await remote()
    const [ada, bob, carl] = await Promise.all(
      ['ada', 'bob', 'carl'].map((name) => RawWebSocket.greeted(url, token('approve', name))),
    )
    expect(await parley(['token', 'rm', 'ada'], { home: place.home })).toMatchObject({ code: 0 })
    expect((await ada?.closed)?.[0]).toBe(4401)
    await expect(RawWebSocket.open(url, 'parley_wrong')).rejects.toThrow(/401/u)
    const tokens = new AccessTokens(place.home, Date)
    tokens.remove('bob')
    expect((await bob?.closed)?.[0]).toBe(4401)
    expect((await carl?.request('session/list', {}))?.result).toEqual({ sessions: [] })
    // A file that is no file of tokens lets nobody in, and nobody stay.
    writeFileSync(join(place.home, 'access-tokens.json'), '{')
    expect((await carl?.closed)?.[0]).toBe(4401)
  })

  test.concurrent('stays while the server can open no file for a moment, and ends with its token', async () => {
    const { place, url, token } = await remoteProcess()
    const client = await RawWebSocket.greeted(url, token('approve', 'ada'))
    const pid = String(requirePid(pidIn(place.home)))
    const limit = (soft: string) => execFileSync('prlimit', ['--pid', pid, `--nofile=${soft}:`])
    limit('3')
    const log = logPathIn(place.home)
    await until(() => readFileSync(log, 'utf8').includes('EMFILE'))
    limit('1024')
    expect((await client.request('session/list', {})).result).toEqual({ sessions: [] })
    new AccessTokens(place.home, Date).remove('ada')
    expect((await client.closed)[0]).toBe(4401)
  })

  test.concurrent('that sends more than 64 KiB before initialize is closed', async () => {
    const { url, token } = shared
    const client = await RawWebSocket.open(url, token('read'))
    client.socket.send('x'.repeat(128 * 1024))
    expect((await client.closed)[0]).toBe(1009)
  })

  test.concurrent('that sends a message of more than 16 MiB is closed', async () => {
    const { url, token } = shared
    const client = await RawWebSocket.greeted(url, token('read'))
    client.socket.send('x'.repeat(16 * 1024 * 1024 + 1))
    expect(await client.closed).toEqual([1009, 'A message has at most 16 MiB.'])
  })

  test.concurrent('is told that the server stops', async () => {
    const { place, url, token } = await remoteProcess()
    const client = await RawWebSocket.greeted(url, token('read'))
    await parley(['stop'], { home: place.home })
    expect((await client.closed)[0]).toBe(1012)
  })

  test.concurrent('is the seventeenth of its token: it is refused', async ({ expect }) => {
    const { url, token } = shared
    const right = token('read')
    const clients = await Promise.all(Array.from({ length: 16 }, () => RawWebSocket.open(url, right)))
    await expect(RawWebSocket.open(url, right)).rejects.toThrow(/429/u)
    clients[0]?.socket.terminate()
    await clients[0]?.closed
    await expect
      .poll(() =>
        RawWebSocket.open(url, right).then(
          () => 'in',
          () => 'refused',
        ),
      )
      .toBe('in')
    for (const { socket } of clients) socket.terminate()
  })
})

describe.concurrent('an address that others can reach', () => {
  test.concurrent('is refused without TLS, in one line that names the ways out', async () => {
    const { home } = await placeWith()
    const { code, stderr } = await parley(['serve', '--listen', '0.0.0.0:0'], { home })
    expect(code).toBe(2)
    for (const way of ['--tls-cert', '--public-url', '--insecure-http']) expect(stderr).toContain(way)
    expect(stderr.trim().split('\n')).toHaveLength(1)
  })

  test.concurrent('is used behind a proxy whose host and origin are said', async () => {
    const { port, token } = await remote(['--listen', '127.0.0.1:0', '--public-url', 'https://parley.example/base'])
    const bearer = `Authorization: Bearer ${token('read')}`
    const statusOf = async (path: string, ...headers: readonly string[]) =>
      (await upgrade(port, [bearer, ...headers], path)).slice(9, 12)
    expect(await statusOf('/base/acp', 'Host: parley.example', 'Origin: https://parley.example')).toBe('101')
    expect(await statusOf('/acp', 'Host: parley.example', 'Origin: http://parley.example')).toBe('403')
    expect(await statusOf('/acp', 'Host: parley.example')).toBe('101')
    expect(await statusOf('/acp', 'Host: other.example')).toBe('421')
  })
})

test.concurrent('an address that is none is refused in one line', async () => {
  const { home } = await placeWith()
  const { code, stderr } = await parley(['serve', '--listen', 'http://x:1'], { home })
  expect({ code, lines: stderr.trim().split('\n').length }).toEqual({ code: 2, lines: 1 })
})

test.concurrent('a port that is in use is said in one line', async () => {
  const { port } = shared
  const { home } = await placeWith()
  const { code, stderr } = await parley(['serve', '--listen', String(port)], { home })
  expect({ code, lines: stderr.trim().split('\n').length }).toEqual({ code: 1, lines: 1 })
  expect(stderr).toContain('EADDRINUSE')
})

test.concurrent('a client that offers compression gets none', async () => {
  const { url, token } = shared
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${token('read')}` }, perMessageDeflate: true })
  await onceSoon(socket, 'open')
  expect(socket.extensions).toBe('')
  socket.terminate()
})
