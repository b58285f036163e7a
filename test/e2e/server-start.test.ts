/** A server that a command starts: exactly one, soon, and on its own; or a clear word why not. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { markerOf } from '../../src/adapters/process/environment.ts'
import { dial, startServer } from '../../src/server/launch/launch.ts'
import { carrying, commandOf, parentOf, runs, until } from '../fixtures/process/running.ts'
import { RawSocket } from './raw-socket.ts'
import {
  type Place,
  cleanUpServers,
  deaf,
  logOf,
  openSession,
  pidIn,
  placeWith,
  serve,
  start,
  startInBackground,
  whereOf,
} from './server.ts'

cleanUpServers()

test.concurrent('many that need one at once start exactly one, and all are served', async () => {
  const place = await placeWith()
  await Promise.all(Array.from({ length: 8 }, () => startServer(whereOf(place))))
  const clients = await Promise.all(Array.from({ length: 8 }, () => RawSocket.open(place.socket)))
  const answers = await Promise.all(clients.map((client) => client.request('_parley/status', {})))
  expect(new Set(answers.map(({ result }) => result?.['pid']))).toEqual(new Set([pidIn(place.home)]))
  const servers = (): readonly number[] => serversOf(place.home)
  await until(() => servers().length === 1)
})

test.concurrent('after a kill -9 in the middle of everything, the next that needs one has one', async () => {
  const place = await placeWith()
  for (let life = 0; life < 3; life += 1) {
    const pid = await startInBackground(place)
    const client = await RawSocket.open(place.socket)
    await openSession(client, place)
    process.kill(pid, 'SIGKILL')
    await client.closed
    await deaf(place.socket)
  }
  await startInBackground(place)
  const client = await RawSocket.open(place.socket)
  const { result } = await client.request('session/list', {})
  expect(result?.['sessions']).toHaveLength(3)
})

describe.concurrent('is on its own', () => {
  test.concurrent('whoever started it may end, and what read its output is not kept waiting', async () => {
    const place = await placeWith()
    const caller = callerOf(place)
    let heard = ''
    caller.stdout?.on('data', (text: Buffer) => (heard += String(text)))
    const [code] = (await once(caller, 'close')) as [number]
    // `close` comes when every holder of its pipes is gone, and the server is not.
    expect({ code, heard }).toEqual({ code: 0, heard: 'started\n' })
    const pid = pidIn(place.home) ?? 0
    expect(runs(pid)).toBe(true)
    const held = readdirSync(`/proc/${pid}/fd`).map((name) => linkOf(`/proc/${pid}/fd/${name}`))
    // Its own files may be in memory, below /dev/shm.
    const devices = held.filter((target) => target.startsWith('/dev/') && !target.startsWith(place.home))
    expect(devices.filter((target) => target !== '/dev/null')).toEqual([])
    expect(linkOf(`/proc/${pid}/cwd`)).toBe('/')
  })

  test.concurrent('a session that happened to start it does not take it along', async () => {
    const place = await placeWith()
    const marker = markerOf({ home: 'some', id: 'session' })
    const pid = await startInBackground(place, { PARLEY_CHILD: marker, PARLEY_AGENT: 'script:gone' })
    expect(carrying(`PARLEY_CHILD=${marker}`)).not.toContain(pid)
    await openSession(await RawSocket.open(place.socket), place)
  })
})

describe.concurrent('says why it cannot', () => {
  test.concurrent('with the last words of the log, as soon as the process has ended', async () => {
    const place = await placeWith()
    mkdirSync(place.home)
    appendFileSync(
      join(place.home, 'journal.db'),
      'this is no database, and it is long enough to be sure of that'.repeat(99),
    )
    const began = performance.now()
    const error = await failureOf(startServer(whereOf(place)))
    expect(error).toMatchObject({ code: 'SERVER_CANNOT_START', details: { log: join(place.home, 'parley.log') } })
    expect(String(error)).toMatch(/journal\.db .*left (?:it )?untouched/u)
    expect(performance.now() - began).toBeLessThan(60_000)
  })

  test.concurrent('once to each who asks: a journal that is damaged is not tried again and again', async () => {
    const place = await placeWith([{ chunk: 'w{n} ', times: 2_000 }])
    await startInBackground(place)
    const client = await RawSocket.open(place.socket, { agent: place.agent })
    const sessionId = await openSession(client, place)
    await client.request('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'go' }] })
    const follower = start(place, ['attach', '--json', sessionId])
    const relay = start(place, ['acp'])
    relay.child.stdin.write('{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}\n')
    await Promise.all([follower.until('w2000'), relay.until('"id":0')])
    const pid = pidIn(place.home) ?? 0
    // Stopped it notices nothing, and nobody starts another before the damage is done.
    process.kill(pid, 'SIGSTOP')
    const journal = join(place.home, 'journal.db')
    rmSync(`${journal}-wal`)
    truncateSync(journal, Math.floor(statSync(journal).size / 3))
    process.kill(pid, 'SIGKILL')
    const runner = start(place, ['run', 'hello'])
    await Promise.all([runner.finished, follower.finished, until(() => relay.stderr.includes('damaged'))])
    for (const { stderr } of [runner, follower, relay]) expect(stderr).toMatch(/is damaged .*left it untouched/u)
    expect(
      logOf(place)
        .split('\n')
        .filter((line) => line.includes('damaged')),
    ).toHaveLength(3)
  })

  test.concurrent('and nobody waits for a server that is not there', async () => {
    const place = await placeWith()
    expect(await failureOf(dial(place.socket))).toMatchObject({ code: 'SERVER_ABSENT' })
  })
})

test.concurrent('one that is stopping is waited for, and another started', async () => {
  const place = await placeWith([{ chunk: 'w{n} ', times: 60, everyMs: 20 }])
  const first = await serve(place)
  const client = await RawSocket.open(place.socket)
  const sessionId = await openSession(client, place)
  client.ask('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'go' }] })
  await client.until(({ method }) => method === 'session/update')
  await client.request('_parley/stop', { graceMs: 0 })
  await client.closed
  const pid = await startInBackground(place)
  expect(pid).not.toBe(first.child.pid)
  // It has let go of everything; its process may need another moment.
  await first.finished
})

describe.concurrent('ends by itself', () => {
  const SOON = { PARLEY_IDLE_MINUTES: '0.01' }

  /** A client in a server that does not wait for long; on a busy machine it may come too late for the first one. */
  async function reached(place: Place): Promise<{ readonly pid: number; readonly client: RawSocket }> {
    for (;;) {
      const pid = await startInBackground(place, SOON)
      const client = await RawSocket.open(place.socket).catch(() => undefined)
      if (client !== undefined && runs(pid)) return { pid, client }
    }
  }

  test.concurrent('when nobody has used it for a while, and not while somebody does', async () => {
    const place = await placeWith()
    const { pid, client } = await reached(place)
    // Twice as long as it would wait without anybody.
    await new Promise((resolve) => setTimeout(resolve, 1_200))
    expect(runs(pid)).toBe(true)
    await client.leave()
    await until(() => !runs(pid))
    expect(logOf(place)).toContain('it was not used for 0.01 minutes')
    expect(existsSync(place.socket)).toBe(false)
  })

  test.concurrent('when its socket was removed, so that nobody can come in', async () => {
    const place = await placeWith()
    const { pid, client } = await reached(place)
    rmSync(place.socket)
    await until(() => !runs(pid))
    await client.closed
    expect(logOf(place)).toContain('its socket was removed')
  })

  test.concurrent('when its state directory was removed, and leaves the socket of its successor alone', async () => {
    const place = await placeWith()
    // It looks every three seconds, which is after its successor has come.
    const first = await startInBackground(place, { PARLEY_IDLE_MINUTES: '0.2' })
    await RawSocket.open(place.socket)
    // The log may be written meanwhile.
    rmSync(place.home, { recursive: true, maxRetries: 9 })
    const second = await startInBackground(place)
    await until(() => !runs(first))
    expect(runs(second)).toBe(true)
    await RawSocket.open(place.socket)
  })

  test.concurrent('only if a command started it', async () => {
    const place = await placeWith()
    const server = await serve(place, SOON)
    await new Promise((resolve) => setTimeout(resolve, 1_200))
    expect(runs(server.child.pid ?? 0)).toBe(true)
  })
})

function serversOf(home: string): readonly number[] {
  const servers = carrying(`PARLEY_HOME=${home}`).filter((pid) => commandOf(pid).includes('serve --background'))
  // What a server starts is its copy for a moment, before it becomes another program; one that has ended since has no parent.
  return servers.filter((pid) => ![0, ...servers].includes(parentOf(pid)))
}

/** A process of its own that needs a server, with pipes for its output. */
function callerOf(place: Parameters<typeof whereOf>[0]): ChildProcess {
  const launch = new URL('../../src/server/launch/launch.ts', import.meta.url).href
  const program = `const { startServer } = await import(${JSON.stringify(launch)})
    await startServer(${JSON.stringify(whereOf(place))})
    console.log('started')`
  return spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  })
}

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  )
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    // It was closed while we looked.
    return ''
  }
}
