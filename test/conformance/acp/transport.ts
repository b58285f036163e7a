/**
 * The ways that cases reach an agent: a transport is a parameter of the player, so one more (WebSocket, HTTP) is one more
 * object here and a test file of one line. What a transport carries are lines, one message each, on a pair of streams.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect as connectTo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { environmentOf } from '../../e2e/environment.ts'
import type { Fields } from '../../e2e/message.ts'
import { binary } from '../../e2e/parley.ts'
import { socketPathOf } from '../../../src/config/socket.ts'
import { AccessTokens } from '../../../src/credentials/access-tokens.ts'
import { openHttpStreams } from '../../wire/raw-http.ts'
import { openStreams } from '../../wire/raw-web-socket.ts'
import { startServer } from '../../../src/server/launch/launch.ts'
import { freePort } from '../../fixtures/process/free-port.ts'
import { carrying, runs, signal, until } from '../../fixtures/process/running.ts'
import type { Ends } from './line-connection.ts'

/** What belongs to one case. */
export interface Place {
  readonly directory: string
  /** The script that Parley's agent plays. */
  readonly script: string
  readonly env: Readonly<Record<string, string>>
}

export interface Transport {
  readonly name: string
  /** Whether its agent can be told what to do. */
  readonly scripted: boolean
  /** Whether several connections reach the same sessions. */
  readonly manyClients: boolean
  /** Whether bytes may be cut anywhere; other transports carry whole messages only. */
  readonly carriesBytes: boolean
  open(place: Place): Promise<Ends>
  /** What `initialize` says besides. */
  introduction(place: Place): Fields
  /** Ends what only this case has used. */
  leave?(place: Place): Promise<void>
  close(): Promise<void>
}

const nothing = async (): Promise<void> => undefined

/** Stdio without a server: `parley acp --embedded`, a process and a state directory per case. */
export function embedded(): Transport {
  return {
    name: 'parley acp --embedded',
    scripted: true,
    manyClients: false,
    carriesBytes: true,
    open: async ({ directory, script, env }) =>
      childEnds(parley(['acp', '--embedded', '--agent', `script:${script}`], join(directory, 'home'), env)),
    introduction: () => ({}),
    close: nothing,
  }
}

/** Stdio as an editor starts it: `parley acp`, a relay per client to one server in the background. */
export function stdio(): Transport {
  return served('parley acp', {
    carriesBytes: true,
    introduction: () => ({}),
    async open(home, { script, env }) {
      // A cold start has the patience of the server; a case measures answers.
      await started(home, env)
      return childEnds(parley(['acp', '--agent', `script:${script}`], home, env))
    },
  })
}

/** The server's own unix socket, without a process in between: the quickest way. */
export function unixSocket(): Transport {
  return served('the unix socket of parley serve', {
    carriesBytes: true,
    introduction: agentInMeta,
    async open(home, { env }) {
      await started(home, env)
      return socketEnds(socketPathOf(home))
    },
  })
}

/** Opens one by the address of the server and an access token. */
export type RemoteDoor = (url: string, token: string) => Promise<Ends>

export const webSocketDoor: RemoteDoor = async (url, token) => {
  const { socket, input, output, closed } = await openStreams(url, token)
  return endsOf({ input, output, closed: closed.then(() => undefined) }, () => socket.terminate())
}

export const httpDoor: RemoteDoor = async (url, token) => {
  const { leave, ...streams } = openHttpStreams(url, token)
  return endsOf(streams, leave)
}

/** WebSocket on a port of loopback, with an access token. */
export function webSocket(): Transport {
  return remote('WebSocket', webSocketDoor)
}

/** Streamable HTTP on the same endpoint. */
export function http(): Transport {
  return remote('Streamable HTTP', httpDoor)
}

/** Cases hurry more than anyone who types. */
export const HASTE = {
  PARLEY_REMOTE_CONNECTIONS: '256',
  PARLEY_REMOTE_REQUESTS_PER_SECOND: '10000',
  PARLEY_REMOTE_SESSIONS_PER_MINUTE: '10000',
}

function remote(name: string, connect: RemoteDoor): Transport {
  const doors = new Map<string, Promise<{ readonly port: number; readonly token: string }>>()
  const doorOf = (home: string) => {
    const door = doors.get(home) ?? freePort().then((port) => ({ port, token: tokenFor(home) }))
    doors.set(home, door)
    return door
  }
  return served(name, {
    carriesBytes: false,
    introduction: agentInMeta,
    async open(home, { env }) {
      const { port, token } = await doorOf(home)
      await started(home, { ...env, PARLEY_LISTEN: String(port), ...HASTE })
      return connect(`ws://127.0.0.1:${port}/acp`, token)
    },
  })
}

/** How a client that starts no process of ours says which agent it wants. */
export function agentInMeta({ script }: Place): Fields {
  return { _meta: { 'parley/agent': `script:${script}` } }
}

interface Served extends Pick<Transport, 'carriesBytes'> {
  readonly introduction: (place: Place) => Fields
  readonly open: (home: string, place: Place) => Promise<Ends>
}

/** By a server of ours that all cases share, and one for each case that has settings of its own. */
function served(name: string, { carriesBytes, introduction, open }: Served): Transport {
  const homes = new Homes()
  return {
    name,
    scripted: true,
    manyClients: true,
    carriesBytes,
    open: (place) => open(homes.of(place), place),
    introduction,
    leave: (place) => homes.leave(place),
    close: () => homes.close(),
  }
}

/** Sixteen connections share a token, and cases run beside each other. */
export function tokenFor(home: string): string {
  return new AccessTokens(home, Date).add('judge', 'admin')
}

/** Any agent. It is started anew for every case, with the environment as it is. */
export function command(words: readonly string[]): Transport {
  const [program = '', ...args] = words
  return {
    name: words.join(' '),
    scripted: false,
    manyClients: false,
    carriesBytes: true,
    open: async () => childEnds(spawn(program, args, { detached: true }), true),
    introduction: () => ({}),
    close: nothing,
  }
}

/** State directories: one for all cases, and one for each case that has settings of its own. */
class Homes {
  readonly #common = mkdtempSync(join(tmpdir(), 'conformance-home-'))

  of({ directory, env }: Place): string {
    return Object.keys(env).length === 0 ? this.#common : join(directory, 'home')
  }

  async leave(place: Place): Promise<void> {
    if (this.of(place) !== this.#common) await endServer(this.of(place))
  }

  async close(): Promise<void> {
    await endServer(this.#common)
    rmSync(this.#common, { recursive: true, force: true, maxRetries: 5 })
  }
}

export function started(home: string, env: Place['env']): Promise<void> {
  return startServer({ home, socket: socketPathOf(home), environment: environmentOf({ home, env }), program: binary })
}

export async function endServer(home: string): Promise<void> {
  await until(() => {
    const left = carrying(`PARLEY_HOME=${home}`)
    for (const pid of left) signal(pid, 'SIGKILL')
    return left.every((pid) => !runs(pid))
  })
}

function parley(args: readonly string[], home: string, env: Place['env']): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [binary, ...args], { cwd: '/', env: environmentOf({ home, env }) })
}

/** How long a process may take to end by itself once its input has ended: a few seconds, on a busy machine too. Milliseconds. */
const LEAVING = 10_000

function childEnds(child: ChildProcessWithoutNullStreams, hasGroup = false): Ends {
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr = (stderr + text).slice(-4000)))
  const closed = new Promise<void>((resolve) => {
    child.on('close', () => resolve())
    child.on('error', () => resolve())
  })
  child.stdin.on('error', () => {
    // The agent is gone; whoever waits hears of that.
  })
  // A program that could not be started has no pid, and a signal to process 0 would end the tests themselves.
  const killAll = (): void => {
    if (child.pid !== undefined) signal(hasGroup ? -child.pid : child.pid, 'SIGKILL')
  }
  return {
    input: child.stdin,
    output: child.stdout,
    closed,
    stderr: () => stderr,
    async end() {
      let byItself = true
      child.stdin.end()
      const timer = setTimeout(() => {
        byItself = false
        killAll()
      }, LEAVING)
      await closed
      clearTimeout(timer)
      // What it started must not stay either.
      if (hasGroup) killAll()
      return byItself
    },
  }
}

export async function socketEnds(path: string): Promise<Ends> {
  const connection = connectTo(path)
  await once(connection, 'connect')
  const closed = new Promise<void>((resolve) => connection.on('close', () => resolve()))
  connection.on('error', () => {
    // It broke; whoever waits hears that it is closed.
  })
  return endsOf({ input: connection, output: connection, closed }, () => connection.destroy())
}

/** Of a connection without a process; it always ends by itself. */
function endsOf(streams: Pick<Ends, 'input' | 'output' | 'closed'>, leave: () => unknown): Ends {
  return {
    ...streams,
    async end() {
      await leave()
      await streams.closed
      return true
    },
  }
}
