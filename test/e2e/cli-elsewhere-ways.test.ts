/** Ways to a remote server: through ssh, through a proxy that wants a header, with a certificate that nobody else knows. */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { type Server, type Socket, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Credentials } from '../../src/credentials/key-ring.ts'
import { parley } from './cli.ts'
import { binary, freshDirectory, initialize, promptOf } from './parley.ts'
import { cleanUp, startRelay } from './relays.ts'
import { type Remote, remote } from './remote-place.ts'
import { cleanUpSharedServers, placeWith, start } from './server.ts'

cleanUpSharedServers()
cleanUp()

let plain: Remote
/** A machine without a server of its own. */
let here: string
const proxies: Server[] = []

beforeAll(async () => {
  plain = await remote()
  here = freshDirectory()
})
afterAll(() => {
  for (const proxy of proxies) proxy.close()
})

const at = (args: readonly string[], env: Readonly<Record<string, string>> = {}) => parley(args, { home: here, env })

/** A pairing link, as it is at this address of the server. */
function linkTo({ place }: Remote, page: string): string {
  const { code } = new Credentials(place.home, Date).devices.offer({ role: 'admin', name: 'laptop' })
  return `${page}#pair=${code}`
}

/** A program named `ssh` that runs the command on this machine, as the server's user. Returns the environment that finds it. */
function sshTo(
  home: string,
  agent: string,
): { readonly env: Readonly<Record<string, string>>; readonly asked: () => string } {
  const directory = freshDirectory()
  const log = join(directory, 'asked')
  const lines = [
    '#!/bin/sh',
    `echo "$@" >> '${log}'`,
    'while [ "$1" != "--" ]; do shift; done',
    'shift 3',
    `export PARLEY_HOME='${home}' PARLEY_AGENT='${agent}'`,
    `exec '${process.execPath}' '${binary}' "$@"`,
  ]
  writeFileSync(join(directory, 'ssh'), `${lines.join('\n')}\n`)
  chmodSync(join(directory, 'ssh'), 0o755)
  return { env: { PATH: `${directory}:${process.env['PATH'] ?? ''}` }, asked: () => readFileSync(log, 'utf8') }
}

test.concurrent('ssh://HOST runs the relay there: commands and editors work without a port, a link or a token', async () => {
  const { place } = plain
  const { env, asked } = sshTo(place.home, place.agent)
  const args = ['--server', 'ssh://ada@studio:2222']
  const run = await at(['run', ...args, '--cwd', place.cwd, 'Hi'], env)
  expect(run).toMatchObject({ code: 0, stdout: expect.stringContaining('Hello.') as string })
  expect(asked()).toBe('-p 2222 -- ada@studio parley acp\n')
  const editor = startRelay(
    { home: here, cwd: here, agent: '' },
    { args: [...args, '--map', `/Users/ada=${place.cwd}`], env },
  )
  await initialize(editor)
  const { result } = await editor.request('session/new', { cwd: '/Users/ada', mcpServers: [] })
  const sessionId = String(result?.['sessionId'])
  expect((await editor.request('session/prompt', promptOf(sessionId, 'Hi'))).result).toEqual({ stopReason: 'end_turn' })
  await editor.leave()
})

test.concurrent('ssh that does not come through is said in a sentence', async () => {
  const directory = freshDirectory()
  writeFileSync(join(directory, 'ssh'), '#!/bin/sh\necho "ssh: no route to studio" >&2\nexit 255\n', { mode: 0o755 })
  const env = { PATH: `${directory}:${process.env['PATH'] ?? ''}` }
  const failed = await at(['--server', 'ssh://studio', 'ls'], env)
  expect(failed).toMatchObject({ code: 75, stdout: '' })
  expect(failed.stderr).toContain('no route to studio')
  expect(failed.stderr).toMatch(/studio/u)
  expect(failed.stderr).not.toMatch(/ {4}at /u)
  // What looks like an option of ssh is no host.
  expect((await at(['--server', 'ssh://-oProxyCommand=x', 'ls'], env)).stderr).toContain('parley login')
})

/** Passes on who sends the header, as an access proxy before a tunnel does. */
async function proxyWanting(header: string, port: number): Promise<number> {
  const proxy = createServer((socket: Socket) => {
    socket.on('error', () => undefined)
    let head = Buffer.alloc(0)
    socket.on('data', function read(bytes: Buffer) {
      head = Buffer.concat([head, bytes])
      const text = head.toString('latin1')
      if (!text.includes('\r\n\r\n')) return undefined
      socket.off('data', read)
      if (!text.includes(`\r\n${header}\r\n`))
        return socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 17\r\nConnection: close\r\n\r\nLog in to proceed')
      const onward = connect(port, '127.0.0.1').on('error', () => socket.destroy())
      onward.write(head)
      return socket.pipe(onward).pipe(socket)
    })
  })
  proxies.push(proxy)
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  return (proxy.address() as { readonly port: number }).port
}

test.concurrent('--header shows a proxy what it wants to see, at the login and ever after', async () => {
  const port = await proxyWanting('cf-access-client-id: laptop-7', plain.port)
  const page = `http://127.0.0.1:${port}/`
  const refused = await at(['login', linkTo(plain, page), '--name', 'tunnel'])
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('403') as string })
  const header = ['--header', 'CF-Access-Client-Id: laptop-7']
  expect(await at(['login', linkTo(plain, page), '--name', 'tunnel', ...header])).toMatchObject({ code: 0 })
  expect(await at(['--server', 'tunnel', 'ls', '--json'])).toMatchObject({ code: 0 })
  expect(await at(['login', page, '--header', 'laptop-7'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('NAME: VALUE') as string,
  })
})

test.concurrent('--ca trusts a certificate that nobody else knows; without it there is no way around the check', async () => {
  const directory = freshDirectory()
  mkdirSync(directory, { recursive: true })
  const [cert, key] = [join(directory, 'cert.pem'), join(directory, 'key.pem')]
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  const names = ['-subj', '/CN=studio', '-addext', 'subjectAltName=IP:127.0.0.1']
  execFileSync('openssl', ['req', '-x509', ...kind, '-keyout', key, '-out', cert, ...names], { stdio: 'ignore' })
  const encrypted = await remote(['--tls-cert', cert, '--tls-key', key])
  const page = `https://127.0.0.1:${encrypted.port}/`
  const untrusted = await at(['login', linkTo(encrypted, page), '--name', 'own'])
  expect(untrusted).toMatchObject({ code: 1, stderr: expect.stringMatching(/certificate is not trusted/u) as string })
  expect(await at(['login', linkTo(encrypted, page), '--name', 'own', '--ca', cert])).toMatchObject({ code: 0 })
  expect(await at(['--server', 'own', 'ls', '--json'])).toMatchObject({ code: 0, stderr: '' })
})

test.concurrent('a port of the former server that is not safe any more stays closed, and the log says so', async () => {
  const place = await placeWith()
  mkdirSync(place.home, { mode: 0o700 })
  writeFileSync(join(place.home, 'ports.json'), '["0.0.0.0:0"]')
  const cli = start(place, ['serve'])
  await cli.until('listens on')
  expect(cli.stdout).not.toContain('/acp')
  const status = await parley(['web', '--json'], { home: place.home }).catch(() => undefined)
  expect(status?.stdout ?? '').not.toContain('0.0.0.0')
  expect(readFileSync(join(place.home, 'parley.log'), 'utf8')).toContain(
    'a port of the former server could not be opened',
  )
})
