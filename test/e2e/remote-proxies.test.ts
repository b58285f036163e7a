/** nginx and Caddy before the real binary, with the very text of `docs/remote.md`: WebSocket, POST, streams, forged headers. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { freePort } from '../fixtures/process/free-port.ts'
import { until } from '../fixtures/process/running.ts'
import { EventReader, HttpClient } from '../wire/raw-http.ts'
import { onceSoon } from '../wire/once-soon.ts'
import { freshDirectory } from './parley.ts'
import { type Remote, remote } from './remote-place.ts'
import { cleanUpSharedServers } from './server.ts'

cleanUpSharedServers()

const directory = freshDirectory()
const at = (name: string): string => join(directory, name)
const page = readFileSync(new URL('../../docs/remote.md', import.meta.url), 'utf8')
const HOST = 'parley.example'

let server: Remote
const started: ChildProcess[] = []

beforeAll(async () => {
  const names = ['-subj', `/CN=${HOST}`, '-addext', `subjectAltName=DNS:${HOST}`, '-keyout', at('key.pem')]
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  execFileSync('openssl', ['req', '-x509', ...kind, ...names, '-out', at('cert.pem')], { stdio: 'ignore' })
  server = await remote(['--public-url', `https://${HOST}/base/`, '--trust-proxy', '127.0.0.1'])
})
afterAll(() => {
  for (const child of started) child.kill('SIGKILL')
})

/** The first block of this language, with the test's own ports and files. */
function documented(language: string, port: number): string {
  const [, text] = new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'su').exec(page) ?? []
  if (text === undefined) throw new Error(`docs/remote.md has no ${language}`)
  return text
    .replace('127.0.0.1:7777', `127.0.0.1:${server.port}`)
    .replace('listen 443', `listen 127.0.0.1:${port}`)
    .replace('/etc/ssl/parley.pem', at('cert.pem'))
    .replace('/etc/ssl/parley.key', at('key.pem'))
}

const proxies = {
  nginx(port: number): readonly string[] {
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (kind) => `${kind}_temp_path ${at(kind)};`,
    )
    const http = `access_log off; ${temporary.join(' ')}\n${documented('nginx', port)}`
    writeFileSync(at('nginx.conf'), `daemon off; pid ${at('pid')}; error_log stderr; events {}\nhttp { ${http} }\n`)
    return ['nginx', '-p', directory, '-c', at('nginx.conf')]
  },
  caddy(port: number): readonly string[] {
    const own = `bind 127.0.0.1\n  tls ${at('cert.pem')} ${at('key.pem')}`
    const text = documented('caddyfile', port).replace(`${HOST} {`, `https://${HOST}:${port} {\n  ${own}`)
    writeFileSync(at('Caddyfile'), `{\n  admin off\n  auto_https disable_redirects\n}\n${text}`)
    return ['caddy', 'run', '--adapter', 'caddyfile', '--config', at('Caddyfile')]
  },
}

/** Resolves with its port when it accepts connections. */
async function startProxy(name: keyof typeof proxies): Promise<number> {
  const port = await freePort()
  const [program = '', ...args] = proxies[name](port)
  const env = { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin`, HOME: directory, XDG_DATA_HOME: directory }
  const child = spawn(program, args, { env, stdio: ['ignore', 'ignore', 'pipe'] })
  started.push(child)
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
  const failed = once(child, 'error').then(() => {
    throw new Error(`this test needs ${name}; get it with: apt-get install ${name === 'nginx' ? 'nginx-light' : name}`)
  })
  const ended = once(child, 'exit').then(() => {
    throw new Error(`${name} ended: ${said}`)
  })
  await Promise.race([failed, ended, until(() => listens(port))])
  failed.catch(() => undefined)
  ended.catch(() => undefined)
  return port
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  const isOpen = await new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
  })
  socket.destroy()
  return isOpen
}

describe.each(['nginx', 'caddy'] as const)('behind %s', (name) => {
  let port: number
  let token: string

  beforeAll(async () => {
    port = await startProxy(name)
    token = server.token('admin', name)
  })

  const client = (own: string | undefined, headers: Readonly<Record<string, string>> = {}): HttpClient =>
    new HttpClient(`https://127.0.0.1:${port}/base/acp`, own, { host: HOST, ...headers })

  test('a WebSocket, POSTs and streams pass at once', async () => {
    const headers = { host: HOST, authorization: `Bearer ${token}`, origin: `https://${HOST}` }
    const options = { headers, rejectUnauthorized: false, servername: HOST }
    const socket = new WebSocket(`wss://127.0.0.1:${port}/base/acp`, options)
    await onceSoon(socket, 'open')
    const initialize = { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: 1 } }
    socket.send(JSON.stringify(initialize))
    const [answer] = (await onceSoon(socket, 'message')) as [Buffer]
    expect(JSON.parse(answer.toString())).toMatchObject({ id: 1, result: { protocolVersion: 1 } })
    socket.terminate()
    const http = client(token)
    const greeted = await http.post(JSON.stringify(initialize))
    expect(greeted.status).toBe(200)
    const connection = { 'acp-connection-id': String(greeted.headers['acp-connection-id']) }
    const stream = await http.stream(connection)
    if (!(stream instanceof EventReader)) throw new Error(stream.text)
    for (const id of [2, 3]) {
      const list = { jsonrpc: '2.0', id, method: 'session/list', params: {} }
      expect((await http.post(JSON.stringify(list), connection)).status).toBe(202)
      expect((await stream.until(id - 1)).at(-1)?.data).toContain(`"id":${id}`)
    }
    http.destroy()
  })

  test('what is forged is no identity: not a name, not an origin, not an address that is counted', async () => {
    expect((await client(undefined, { 'tailscale-user-login': 'owner@example.com' }).ask('GET', {})).status).toBe(401)
    expect((await client(token, { origin: 'https://evil.example' }).ask('GET', {})).status).toBe(403)
    const statuses: number[] = []
    for (let n = 0; n < 11; n += 1)
      statuses.push((await client('wrong', { 'x-forwarded-for': `192.0.2.${n}` }).ask('GET', {})).status)
    expect(statuses).toContain(429)
    expect((await client(token).ask('GET', {})).status).toBe(406)
  })
})
