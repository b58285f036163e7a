/** TLS on the real binary, with certificates that `openssl` makes here: both versions of HTTP, renewal, certificates of clients. */
import { execFileSync } from 'node:child_process'
import { readFileSync, renameSync } from 'node:fs'
import { type ClientHttp2Session, type IncomingHttpHeaders, connect as connectHttp2, constants } from 'node:http2'
import { request } from 'node:https'
import { join } from 'node:path'
import { type ConnectionOptions, type TLSSocket, connect } from 'node:tls'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { until } from '../fixtures/process/running.ts'
import { onceSoon } from '../wire/once-soon.ts'
import { freshDirectory } from './parley.ts'
import { parley } from './cli.ts'
import { type Remote, remote, remoteProcess } from './remote-place.ts'
import { cleanUpSharedServers, placeWith } from './server.ts'

cleanUpSharedServers()

const directory = freshDirectory()
const at = (name: string): string => join(directory, name)

/** A certificate that signs itself. */
function certify(name: string): void {
  const names = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  const args = ['req', '-x509', ...kind, '-keyout', at(`${name}.key`), '-out', at(`${name}.pem`), ...names]
  try {
    execFileSync('openssl', args, { stdio: 'ignore' })
  } catch (error) {
    throw new Error('this test makes certificates with openssl; get it with: apt-get install openssl', { cause: error })
  }
}

let server: Remote
let token: string
const sessions: ClientHttp2Session[] = []

beforeAll(async () => {
  for (const name of ['first', 'second', 'client', 'stranger']) certify(name)
  server = await remote(['--tls-cert', at('first.pem'), '--tls-key', at('first.key')])
  token = server.token('read')
})
afterAll(() => {
  for (const session of sessions) session.destroy()
})

/** With whatever certificate it shows. */
async function shake(port: number, options: ConnectionOptions = {}): Promise<TLSSocket> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options })
  await onceSoon(socket, 'secureConnect')
  return socket
}

async function nameShown(port: number): Promise<string> {
  const socket = await shake(port)
  const { subject } = socket.getPeerCertificate()
  socket.destroy()
  return String(subject.CN)
}

async function overHttp2(headers: Readonly<Record<string, string>>): Promise<IncomingHttpHeaders> {
  const session = connectHttp2(`https://127.0.0.1:${server.port}`, { rejectUnauthorized: false })
  sessions.push(session)
  const stream = session.request(headers)
  if (headers[':method'] === 'POST')
    stream.end('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}')
  const [answer] = (await onceSoon(stream, 'response')) as [IncomingHttpHeaders]
  return answer
}

test.concurrent('one port speaks HTTP/2, HTTP/1.1 and WebSocket', async () => {
  const authorization = `Bearer ${token}`
  expect(await overHttp2({ ':path': '/healthz' })).toMatchObject({ ':status': 200 })
  const asked = { ':path': '/acp', ':method': 'POST', 'content-type': 'application/json' }
  expect(await overHttp2(asked)).toMatchObject({ ':status': 401 })
  const greeted = await overHttp2({ ...asked, authorization })
  expect(greeted).toMatchObject({ ':status': 200, 'acp-connection-id': expect.any(String) })
  const accept = { accept: 'text/event-stream', 'acp-connection-id': String(greeted['acp-connection-id']) }
  const stream = await overHttp2({ ':path': '/acp', authorization, ...accept })
  expect(stream).toMatchObject({ ':status': 200, 'content-type': 'text/event-stream' })
  const plain = request({ port: server.port, host: '127.0.0.1', path: '/healthz', rejectUnauthorized: false }).end()
  expect((await onceSoon(plain, 'response'))[0]).toMatchObject({ statusCode: 200, httpVersion: '1.1' })
  expect(server.url).toMatch(/^wss:/u)
  const socket = new WebSocket(server.url, { headers: { authorization }, rejectUnauthorized: false })
  await onceSoon(socket, 'open')
  socket.terminate()
})

test.concurrent('over HTTP/2 the host is checked too, and must be said once', async () => {
  const authorization = `Bearer ${token}`
  const foreign = { ':path': '/acp', ':authority': 'evil.example', authorization }
  expect(await overHttp2(foreign)).toMatchObject({ ':status': 421 })
  const twice = { ':path': '/acp', ':authority': `127.0.0.1:${server.port}`, host: 'evil.example', authorization }
  expect(await overHttp2(twice)).toMatchObject({ ':status': 421 })
})

test.concurrent('over HTTP/2 who opens requests only to reset them is cut, and others are served meanwhile', async () => {
  const session = connectHttp2(`https://127.0.0.1:${server.port}`, { rejectUnauthorized: false })
  sessions.push(session)
  session.on('error', () => undefined)
  // Before that, what is opened and reset again is not sent.
  await onceSoon(session, 'connect')
  let resets = 0
  while (!session.destroyed && resets < 20_000) {
    const streams = Array.from({ length: 50 }, () => session.request({ ':path': '/acp', ':method': 'POST' }))
    for (const stream of streams) stream.on('error', () => undefined)
    await new Promise((resolve) => setImmediate(resolve))
    for (const stream of streams) stream.close(constants.NGHTTP2_CANCEL)
    resets += streams.length
    await new Promise((resolve) => setImmediate(resolve))
  }
  await until(() => session.destroyed)
  expect(resets).toBeLessThan(20_000)
  expect(await overHttp2({ ':path': '/healthz' })).toMatchObject({ ':status': 200 })
})

test.concurrent('TLS 1.1 is refused', async () => {
  await expect(shake(server.port, { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1' })).rejects.toThrow(
    /protocol|version|alert/iu,
  )
})

test.concurrent('a renewed certificate is shown to new connections; one that is no use is not', async ({ expect }) => {
  expect(await nameShown(server.port)).toBe('first')
  const stays = await shake(server.port)
  // As renewal programs do it: one file after the other.
  renameSync(at('second.pem'), at('first.pem'))
  renameSync(at('second.key'), at('first.key'))
  await expect.poll(() => nameShown(server.port)).toBe('second')
  expect(stays.destroyed).toBe(false)
  stays.destroy()
})

test.concurrent('a certificate past its last day is used, with a sentence for the user; another key is refused', async ({
  expect,
}) => {
  certify('over')
  const request = ['req', '-new', '-key', at('over.key'), '-subj', '/CN=over', '-out', at('over.csr')]
  execFileSync('openssl', request, { stdio: 'ignore' })
  const signing = ['x509', '-req', '-in', at('over.csr'), '-signkey', at('over.key'), '-days', '-1']
  execFileSync('openssl', [...signing, '-out', at('over.pem')], { stdio: 'ignore' })
  const { cli, port } = await remoteProcess(['--tls-cert', at('over.pem'), '--tls-key', at('over.key')])
  expect(await nameShown(port)).toBe('over')
  await expect
    .poll(() => cli.stderr)
    .toMatch(/^parley: The certificate .*over\.pem ended on .* clients refuse it\. .*\n$/u)
  const { home } = await placeWith()
  const args = ['serve', '--listen', '0', '--tls-cert', at('over.pem'), '--tls-key', at('client.key')]
  expect(await parley(args, { home })).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^parley: .*--tls-key .*client\.key": it is not the key .*\n$/u) as string,
  })
})

describe.concurrent('with --client-ca', () => {
  test.concurrent('a client needs a certificate that was signed so, and a token besides', async () => {
    certify('own')
    const args = ['--tls-cert', at('own.pem'), '--tls-key', at('own.key'), '--client-ca', at('client.pem')]
    const { port, token: tokenOf } = await remote(args)
    const status = async (
      name: string,
      headers: Readonly<Record<string, string>> = {},
    ): Promise<number | undefined> => {
      const own = { cert: readFileSync(at(`${name}.pem`)), key: readFileSync(at(`${name}.key`)) }
      const asked = request({
        port,
        host: '127.0.0.1',
        path: '/acp',
        headers,
        rejectUnauthorized: false,
        agent: false,
        ...own,
      })
      asked.end()
      return ((await onceSoon(asked, 'response'))[0] as { readonly statusCode?: number }).statusCode
    }
    expect(await status('client')).toBe(401)
    expect(await status('client', { authorization: `Bearer ${tokenOf('read')}` })).toBe(406)
    await expect(status('stranger')).rejects.toThrow(/alert|reset|hang up|EPIPE/iu)
  })

  test.concurrent('and without a certificate of the server, it is refused in one line', async () => {
    const { home } = await placeWith()
    const { code, stderr } = await parley(['serve', '--listen', '0', '--client-ca', at('client.pem')], { home })
    expect({ code, lines: stderr.trim().split('\n').length }).toEqual({ code: 2, lines: 1 })
    expect(stderr).toContain('--client-ca')
  })
})
