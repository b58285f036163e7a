/** The end of a server: turns get their time, clients hear how theirs ended, and nothing is left. */
import { describe, expect, test } from 'vitest'
import { stdioServer } from '../fixtures/mcp/servers.ts'
import { carrying, runs, until } from '../fixtures/process/running.ts'
import { jsonLines, parley } from './cli.ts'
import { serveHere } from './hosted-server.ts'
import { type Fields, type Message, textOf, updatesIn } from './message.ts'
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
} from './server.ts'

cleanUpServers()

const SLOW = [{ chunk: 'w{n} ', times: 10_000, everyMs: 5 }]
/** It runs until its client says that the command has ended. */
const HELD = [{ chunk: 'w1 ' }, { terminal: { command: 'make' } }, { chunk: 'whole' }]

const said = (messages: readonly Message[]): string => updatesIn(messages).map(textOf).join('')
const promptOf = (sessionId: string): Fields => ({ sessionId, prompt: [{ type: 'text', text: 'go' }] })

interface Turn {
  readonly client: RawSocket
  readonly sessionId: string
  readonly prompt: number
}

/** A client that hears of the server, and a turn of it that runs. */
async function beginTurn(place: Place): Promise<Turn> {
  const client = await RawSocket.open(place.socket, { notifications: ['server'], capabilities: { terminal: true } })
  const sessionId = await openSession(client, place)
  const prompt = client.ask('session/prompt', promptOf(sessionId))
  await client.until((message) => said([message]).startsWith('w'))
  return { client, sessionId, prompt }
}

/** A turn of `HELD`, and what ends it. */
async function beginHeldTurn(place: Place): Promise<Turn & { readonly end: () => void }> {
  const turn = await beginTurn(place)
  const { client } = turn
  const answers: Readonly<Record<string, Fields>> = {
    'terminal/create': { terminalId: 'term-1' },
    'terminal/output': { output: '', truncated: false },
    'terminal/release': {},
  }
  const answer = ({ id, method = '' }: Message): void => {
    const result = answers[method]
    if (result !== undefined) client.reply(id, result)
  }
  client.received.forEach(answer)
  client.listen(answer)
  const { id } = await client.until(({ method }) => method === 'terminal/wait_for_exit')
  return { ...turn, end: () => client.reply(id, { exitCode: 0 }) }
}

const methodsOf = ({ received }: RawSocket): readonly (string | undefined)[] => received.map(({ method }) => method)

describe.concurrent('a server that is to stop', () => {
  test.concurrent('lets a running turn end, takes no new work, and says so before it goes', async () => {
    const place = await placeWith(HELD)
    const server = await serve(place)
    const { client, prompt, end } = await beginHeldTurn(place)
    const other = await RawSocket.open(place.socket)
    const known = await openSession(other, place)

    expect((await client.request('_parley/stop', { graceMs: 60_000 })).result).toEqual({ stopping: true, working: 1 })
    const refused = [
      await other.request('session/new', { cwd: place.cwd, mcpServers: [] }),
      await other.request('session/prompt', promptOf(known)),
    ]
    expect(refused.map(({ error }) => error?.data)).toEqual([
      { code: 'SERVER_STOPPING', retryable: true },
      { code: 'SERVER_STOPPING', retryable: true },
    ])
    expect((await other.request('session/list', {})).error).toBeUndefined()

    end()
    expect((await client.answerTo(prompt)).result).toEqual({ stopReason: 'end_turn' })
    await Promise.all([client.closed, other.closed])
    expect(said(client.received)).toMatch(/whole$/u)
    expect(client.received.at(-1)).toEqual({ jsonrpc: '2.0', method: '_parley/server', params: { state: 'stopping' } })
    expect(methodsOf(other)).not.toContain('_parley/server')
    expect(await server.finished).toMatchObject({ code: 0, stderr: '' })
  })

  test.concurrent('ends a turn that takes longer as interrupted, and its client hears that', async () => {
    const place = await placeWith(SLOW)
    const server = await serve(place)
    const { client, sessionId, prompt } = await beginTurn(place)
    await client.request('_parley/stop', { graceMs: 100 })
    expect((await client.answerTo(prompt)).error?.data).toMatchObject({ code: 'TURN_INTERRUPTED' })
    await client.closed
    expect((await server.finished).code).toBe(0)

    await serveHere(place)
    const next = await RawSocket.open(place.socket)
    await next.request('session/load', { sessionId, cwd: place.cwd, mcpServers: [] })
    expect(said(next.received)).toContain(said(client.received).trim())
    expect(JSON.stringify(next.received)).toContain('Interrupted')
  })

  test.concurrent('does not wait for a turn that waits for a person: the next server asks again', async () => {
    const place = await placeWith([{ permission: { title: 'May I?' } }, { chunk: 'thank you' }])
    const server = await serve(place)
    const client = await RawSocket.open(place.socket)
    const sessionId = await openSession(client, place)
    client.ask('session/prompt', promptOf(sessionId))
    await client.until(({ method }) => method === 'session/request_permission')
    const { result } = await client.request('_parley/stop', { graceMs: 60_000 })
    expect(result).toEqual({ stopping: true, working: 0 })
    expect((await server.finished).code).toBe(0)

    await serveHere(place)
    const next = await RawSocket.open(place.socket)
    await next.request('session/load', { sessionId, cwd: place.cwd, mcpServers: [] })
    await next.until(({ method }) => method === 'session/request_permission')
  })

  test.concurrent.each(['an order to stop', 'kill -9'])(
    'leaves a prompt that waits behind a waiting turn in the queue, after %s: the next server runs it',
    async (end) => {
      const place = await placeWith([{ permission: { title: 'May I?' } }, { chunk: 'thank you' }])
      const server = await serve(place)
      const client = await RawSocket.open(place.socket, { notifications: ['queue'] })
      const sessionId = await openSession(client, place)
      client.ask('session/prompt', { ...promptOf(sessionId), _meta: { 'parley/promptId': 'p-1' } })
      await client.until(({ method }) => method === 'session/request_permission')
      const queued = client.ask('session/prompt', { ...promptOf(sessionId), _meta: { 'parley/promptId': 'p-2' } })
      await client.until(({ method, params }) => method === '_parley/queue' && JSON.stringify(params).includes('p-2'))
      if (end === 'kill -9') server.child.kill('SIGKILL')
      else client.ask('_parley/stop', {})
      await server.finished
      await client.closed
      expect(client.received.filter(({ id, method }) => id === queued && method === undefined)).toEqual([])

      await serve(place)
      const next = await RawSocket.open(place.socket)
      const prompts = [
        { promptId: 'p-1', requestId: 'r-1' },
        { promptId: 'p-2', requestId: 'r-2' },
      ]
      next.listen(({ id, method }) => {
        if (method === 'session/request_permission')
          next.reply(id, { outcome: { outcome: 'selected', optionId: 'allow_once' } })
      })
      const opening = { sessionId, cwd: place.cwd, mcpServers: [], _meta: { 'parley/prompts': prompts } }
      await next.request('session/load', opening)
      expect((await next.answerTo('r-1')).result).toEqual({ stopReason: 'end_turn' })
      expect((await next.answerTo('r-2')).result).toEqual({ stopReason: 'end_turn' })
      expect(said(next.received).match(/thank you/gu)).toHaveLength(2)
    },
  )

  test.concurrent('goes on if it was only to stop when idle, and was not', async () => {
    const place = await placeWith(HELD)
    await serveHere(place)
    const { client, prompt, end } = await beginHeldTurn(place)
    expect((await client.request('_parley/stop', { ifIdle: true })).result).toEqual({ stopping: false, working: 1 })
    end()
    expect((await client.answerTo(prompt)).result).toEqual({ stopReason: 'end_turn' })
    expect((await client.request('_parley/stop', { ifIdle: true })).result).toEqual({ stopping: true, working: 0 })
    await client.closed
  })

  test.concurrent('hurries at a second signal', async () => {
    const place = await placeWith(SLOW)
    const server = await serve(place)
    const { client, prompt } = await beginTurn(place)
    server.child.kill('SIGTERM')
    await until(() => logOf(place).includes('stopping'))
    const began = performance.now()
    server.child.kill('SIGTERM')
    expect((await client.answerTo(prompt)).error?.data).toMatchObject({ code: 'TURN_INTERRUPTED' })
    expect((await server.finished).code).toBe(0)
    // The grace is ten seconds.
    expect(performance.now() - began).toBeLessThan(8_000)
  })

  test.concurrent('is not kept by a client that does not read', async () => {
    const place = await placeWith([{ chunk: 'x'.repeat(10_000), times: 1_000 }])
    const server = await serve(place)
    const client = await RawSocket.open(place.socket)
    const sessionId = await openSession(client, place)
    client.ask('session/prompt', promptOf(sessionId))
    client.socket.pause()
    server.child.kill('SIGTERM')
    expect((await server.finished).code).toBe(0)
  })

  test.concurrent('refuses an order that it does not understand', async () => {
    const place = await placeWith()
    await serveHere(place)
    const client = await RawSocket.open(place.socket)
    const wrong = [{ graceMs: -1 }, { graceMs: '5' }, { ifIdle: 'yes' }]
    const answers = await Promise.all(wrong.map((params) => client.request('_parley/stop', params)))
    expect(answers.map(({ error }) => error?.code)).toEqual([-32602, -32602, -32602])
    expect((await client.request('_parley/status', {})).result).toMatchObject({ clients: 0 })
  })
})

describe.concurrent('leaves no process', () => {
  async function withChildren(
    place: Place,
  ): Promise<{ readonly server: number; readonly children: readonly number[] }> {
    const server = await startInBackground(place)
    const client = await RawSocket.open(place.socket)
    const { type: _type, env: _env, ...deaf } = stdioServer('deaf', { stubborn: true })
    const { type: _other, env: _none, ...plain } = stdioServer('plain')
    await openSession(client, place, [
      { ...deaf, env: [{ name: 'OF', value: place.home }] },
      { ...plain, env: [{ name: 'OF', value: place.home }] },
    ])
    await until(() => carrying(`OF=${place.home}`).length === 2)
    return { server, children: carrying(`OF=${place.home}`) }
  }

  test.concurrent('when it stops', async () => {
    const place = await placeWith()
    const { server, children } = await withChildren(place)
    const { code } = await start(place, ['stop']).finished
    expect(code).toBe(0)
    expect([server, ...children].filter(runs)).toEqual([])
  })
})

describe.concurrent('parley stop', () => {
  test.concurrent('says what it waits for, and returns when the process has gone', async () => {
    const place = await placeWith(SLOW)
    const pid = await startInBackground(place)
    const client = await RawSocket.open(place.socket, place)
    const sessionId = await openSession(client, place)
    client.ask('session/prompt', promptOf(sessionId))
    await client.until(({ method }) => method === 'session/update')
    const stopping = start(place, ['stop', '--grace', '30'])
    await until(() => stopping.stderr.endsWith('\n'))
    client.notify('session/cancel', { sessionId })
    const { code, stdout, stderr } = await stopping.finished
    expect({ code, stdout }).toEqual({ code: 0, stdout: `The Parley server (pid ${pid}) has stopped.\n` })
    expect(stderr).toBe('Waiting for 1 running turn, up to 30 s …\n')
    expect(runs(pid)).toBe(false)
  })

  test.concurrent('is content when none runs', async () => {
    const place = await placeWith()
    expect(await parley(['stop'], place)).toMatchObject({
      code: 0,
      stdout: 'No Parley server is running.\n',
      stderr: '',
    })
  })

  test.concurrent.each(['soon', '-1', ''])('refuses a grace of "%s"', async (grace) => {
    const { code, stderr } = await parley(['stop', '--grace', grace], await placeWith())
    expect(code).toBe(2)
    expect(stderr).toContain('--grace')
  })
})

describe.concurrent('parley status', () => {
  test.concurrent('tells how the server is, for people and for programs', async () => {
    const place = await placeWith(SLOW)
    const server = await serve(place)
    await beginTurn(place)
    const { code, stdout } = await parley(['status', '--json'], place)
    expect(code).toBe(0)
    expect(jsonLines(stdout)).toEqual([
      {
        pid: server.child.pid,
        version: expect.stringMatching(/^\d+\.\d+\.\d+/u),
        socket: place.socket,
        uptimeSeconds: expect.any(Number),
        queued: 0,
        residentBytes: expect.any(Number),
        journalBytes: expect.any(Number),
        sessions: 1,
        clients: 1,
        mcpServers: expect.any(Number),
        working: 1,
        agents: [],
        databases: [],
      },
    ])
    const text = await parley(['status'], place)
    expect(text.stdout).toMatch(new RegExp(`^pid +${server.child.pid}$`, 'mu'))
  })

  test.concurrent.each([[['status']], [['status', '--json']]])(
    '%j starts none, and says so in one line',
    async (args) => {
      const place = await placeWith()
      const { code, stdout, stderr } = await parley(args, place)
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toMatch(/^parley: No Parley server is running.*\n$/u)
      expect(pidIn(place.home)).toBeUndefined()
    },
  )
})

describe.concurrent('parley logs', () => {
  test.concurrent('tells of starts, recoveries and stops, readably or as they are', async () => {
    const place = await placeWith(SLOW)
    const first = await startInBackground(place)
    const speaking = await RawSocket.open(place.socket, place)
    const sessionId = await openSession(speaking, place)
    speaking.ask('session/prompt', promptOf(sessionId))
    await speaking.until(({ method }) => method === 'session/update')
    process.kill(first, 'SIGKILL')
    await speaking.closed
    await deaf(place.socket)
    await startInBackground(place)
    await until(() => logOf(place).includes('recovered'))
    expect(await parley(['stop'], place)).toMatchObject({ code: 0 })

    const { stdout } = await parley(['logs'], place)
    const told = stdout.trim().split('\n')
    // A machine that stands still for seconds is in the log as well.
    const ofLives = /^\S+Z (started|recovered|stopping|stopped)/u
    expect(told.flatMap((line) => ofLives.exec(line)?.[1] ?? [])).toEqual([
      'started',
      'started',
      'recovered',
      'stopping',
      'stopped',
    ])
    expect(told[0]).toMatch(/version \d/u)
    const json = await parley(['logs', '--json', '-n', '2'], place)
    expect(jsonLines(json.stdout).map(({ msg }) => msg)).toEqual(['stopping', 'stopped'])
  })

  test.concurrent('goes on with what comes', async () => {
    const place = await placeWith()
    const following = start(place, ['logs', '-f'])
    await startInBackground(place)
    await following.until('started')
    following.child.kill('SIGTERM')
    expect((await following.finished).code).toBe(0)
  })

  test.concurrent('has nothing to say where there was no server', async () => {
    expect(await parley(['logs'], await placeWith())).toMatchObject({ code: 0, stdout: '', stderr: '' })
  })
})
