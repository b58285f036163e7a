/** `parley serve`: who may own the state and listen on the socket, and whom a bad connection harms. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { PerTest } from '../fixtures/process/per-test.ts'
import { cleanEnvironment } from './environment.ts'
import { until } from '../fixtures/process/running.ts'
import { Cli, parley } from './cli.ts'
import { serveHere } from './hosted-server.ts'
import { binary } from './parley.ts'
import { RawSocket } from './raw-socket.ts'
import { cleanUpServers, openSession, placeWith, serve, start } from './server.ts'

cleanUpServers()

describe.concurrent('parley serve', () => {
  test.concurrent('says where it listens, for its user alone, and cleans up when it is told to stop', async () => {
    const place = await placeWith()
    const server = await serve(place)
    expect(server.stdout).toBe(`Parley ${version()} listens on ${place.socket}\n`)
    expect(statSync(place.socket).mode & 0o777).toBe(0o600)
    expect(statSync(place.home).mode & 0o777).toBe(0o700)
    server.child.kill('SIGTERM')
    expect(await server.finished).toMatchObject({ code: 0, signal: null, stderr: '' })
    expect(existsSync(place.socket)).toBe(false)
    expect(existsSync(join(place.home, 'server.pid'))).toBe(false)
  })

  test.concurrent('a second one says who has the state, and ends with 75', async () => {
    const place = await placeWith()
    const first = await serve(place)
    const second = await parley(['serve'], place)
    expect(second).toMatchObject({ code: 75, stdout: '' })
    expect(second.stderr).toContain(`pid ${first.child.pid}`)
    expect(second.stderr.trim().split('\n')).toHaveLength(1)
    await RawSocket.open(place.socket)
  })

  test.concurrent('leaves alone what is no socket in the place of its socket, and says so', async () => {
    const place = await placeWith()
    mkdirSync(place.socket, { recursive: true })
    const { code, stderr } = await parley(['serve'], place)
    expect(code).toBe(1)
    expect(stderr).toContain(place.socket)
    expect(statSync(place.socket).isDirectory()).toBe(true)
  })

  test.concurrent('refuses a state directory that is named from where it was started, and says what to type', async () => {
    const place = await placeWith()
    const server = new Cli(['serve'], { home: place.home, cwd: place.cwd, env: { PARLEY_HOME: 'here' } })
    const { code, stderr } = await server.finished
    expect(code).not.toBe(0)
    expect(stderr).toContain(`PARLEY_HOME=${join(place.cwd, 'here')}`)
  })
})

describe.concurrent('a state directory whose path is too long for a socket', () => {
  const temporary = new PerTest<string>(async (opened) => {
    for (const directory of opened) rmSync(directory, { recursive: true, force: true })
  })
  temporary.closeAfterEach()
  const long = `${'long/'.repeat(30)}home`
  function elsewhere(): { readonly TMPDIR: string; readonly directory: string } {
    const TMPDIR = mkdtempSync(join(tmpdir(), 'p-'))
    temporary.add(TMPDIR)
    return { TMPDIR, directory: join(TMPDIR, `parley-${process.getuid?.()}`) }
  }

  test.concurrent('has its socket in a private directory', async () => {
    const { TMPDIR, directory } = elsewhere()
    const server = await serve(await placeWith([], long), { TMPDIR })
    const socket = /listens on (.*)\n/u.exec(server.stdout)?.[1] ?? ''
    expect(dirname(socket)).toBe(directory)
    expect(statSync(directory).mode & 0o777).toBe(0o700)
    await RawSocket.open(socket)
  })

  test.concurrent('is refused where that directory is a link to another', async () => {
    const { TMPDIR, directory } = elsewhere()
    symlinkSync(tmpdir(), directory)
    const { code, stderr } = await start(await placeWith([], long), ['serve'], { TMPDIR }).finished
    expect(code).toBe(1)
    expect(stderr).toContain(`move ${directory} away`)
  })

  test.concurrent('is refused where that directory is another user’s', async () => {
    const { TMPDIR, directory } = elsewhere()
    mkdirSync(directory, { mode: 0o777 })
    // Only root can give a directory away; anyone else finds a stranger’s by its link.
    if (process.getuid?.() === 0) chownSync(directory, 12_345, 12_345)
    else {
      rmSync(directory, { recursive: true })
      symlinkSync('/', directory)
    }
    const { code, stderr } = await start(await placeWith([], long), ['serve'], { TMPDIR }).finished
    expect(code).toBe(1)
    expect(stderr).toContain(`move ${directory} away`)
  })
})

describe.concurrent('of many clients', () => {
  test.concurrent('a hundred are served at once', async () => {
    const place = await placeWith()
    await serveHere(place)
    const clients = await Promise.all(Array.from({ length: 100 }, () => RawSocket.open(place.socket)))
    const answers = await Promise.all(clients.map((client) => client.request('session/list', {})))
    expect(answers.map(({ result }) => result?.['sessions'])).toEqual(clients.map(() => []))
  })

  test.concurrent('one that breaks off in the middle of a line, and one that sends nonsense, harm no other', async () => {
    const place = await placeWith([{ chunk: 'still here' }])
    await serveHere(place)
    const [good, broken, silent] = await Promise.all([1, 2, 3].map(() => RawSocket.open(place.socket)))
    if (good === undefined || broken === undefined || silent === undefined) throw new Error('three were opened')
    const sessionId = await openSession(good, place)
    broken.socket.write('{"jsonrpc":"2.0","id":9,"meth')
    await broken.leave()
    silent.socket.write(Buffer.from([0xff, 0xfe, 0x0a]))
    expect((await silent.until(({ error }) => error !== undefined)).error?.code).toBe(-32700)
    const prompt = { sessionId, prompt: [{ type: 'text', text: 'go' }] }
    expect((await good.request('session/prompt', prompt)).result).toEqual({ stopReason: 'end_turn' })
  })

  test.concurrent('clients for which there are no descriptors left are turned away, and the others stay', async () => {
    const place = await placeWith()
    const limited = spawn('/bin/sh', ['-c', 'ulimit -n 100; exec "$@"', 'sh', process.execPath, binary, 'serve'], {
      env: { ...cleanEnvironment(), PARLEY_HOME: place.home },
    })
    try {
      await once(limited.stdout, 'data')
      const opening = RawSocket.open(place.socket)
      // They come while it still loads what sessions need.
      const many = Array.from({ length: 200 }, () => connect(place.socket))
      for (const socket of many) socket.on('error', () => undefined)
      const turnedAway = Promise.race(many.map((socket) => new Promise((resolve) => socket.on('close', resolve))))
      const first = await opening
      await turnedAway
      // Clients never keep the last ones, without which a module could not be loaded, and never again: one that is turned away has
      // one for a moment.
      await until(() => descriptorsOf(limited.pid) < 90)
      expect((await first.request('session/list', {})).error).toBeUndefined()
      for (const socket of many) socket.destroy()
      await until(() => descriptorsOf(limited.pid) < 80)
      // Those that still wait at the door come first; a client that is turned away connects again.
      let served = false
      while (!served) served = await RawSocket.open(place.socket).then(Boolean, () => false)
    } finally {
      limited.kill('SIGKILL')
      await once(limited, 'close')
    }
  })
})

function version(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { readonly version: string }).version
}

function descriptorsOf(pid: number | undefined): number {
  return readdirSync(`/proc/${pid}/fd`).length
}
