/** Runs a command of the real binary as a shell would, with pipes for its streams. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { beforeAll } from 'vitest'
import { PerTest } from '../fixtures/process/per-test.ts'
import { runs } from '../fixtures/process/running.ts'
import { environmentOf } from './environment.ts'
import { socketPathOf } from '../../src/config/socket.ts'
import { readPidFile } from '../../src/server/daemon/pid-file.ts'
import { startServer } from '../../src/server/launch/launch.ts'
import type { Fields } from './message.ts'
import { type RunningCommand, runCommand } from './command-scope.ts'
import { endHosted, endSharedHosted, serveHere } from './hosted-server.ts'
import { binary, freshDirectory, workplace } from './parley.ts'
import { RawSocket } from './raw-socket.ts'
import { PATIENCE_MS } from '../wire/once-soon.ts'

export interface Run {
  /** The state directory. */
  readonly home: string
  /** Where it runs; `home/work` if absent. */
  readonly cwd?: string
  readonly agent?: string
  /** Another build of the binary. */
  readonly program?: string
  readonly env?: Readonly<Record<string, string>>
}

export interface Finished {
  readonly code: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
}

/** What a command prints, for tests that wait for it. */
abstract class Printing {
  abstract readonly finished: Promise<Finished>
  stdout = ''
  stderr = ''
  readonly #heard = new EventEmitter()
  /** Ended, and all that it wrote was read. */
  #isOver = false

  /** Resolves when stdout has had `text`; rejects when it ends without, or takes too long. */
  until(text: string): Promise<void> {
    return this.untilSo(() => this.stdout.includes(text), text)
  }

  /** The same for stderr. */
  untilError(text: string): Promise<void> {
    return this.untilSo(() => this.stderr.includes(text), text)
  }

  /** The same for whatever its output shows; `what` names it for a test that fails. */
  async untilSo(check: () => boolean, what: string): Promise<void> {
    const late = AbortSignal.timeout(PATIENCE_MS)
    while (!check()) {
      if (this.#isOver) throw new Error(`ended without ${what}: ${this.stdout}${this.stderr}`)
      await once(this.#heard, 'heard', { signal: late }).catch(() => {
        throw new Error(`no ${what} within ${PATIENCE_MS} ms: ${this.stdout}${this.stderr}`)
      })
    }
  }

  protected hear({ stdout, stderr }: { readonly stdout: Readable; readonly stderr: Readable }): void {
    stdout.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text
      this.#heard.emit('heard')
    })
    stderr.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text
      this.#heard.emit('heard')
    })
  }

  protected over(code: number | null, signal: string | null): Finished {
    this.#isOver = true
    this.#heard.emit('heard')
    return { code, signal, stdout: this.stdout, stderr: this.stderr }
  }
}

/** A command with a process of its own. */
export class Cli extends Printing {
  readonly home: string
  readonly child: ChildProcessWithoutNullStreams
  readonly finished: Promise<Finished>

  constructor(args: readonly string[], { program = binary, home, cwd = workIn(home), agent, env = {} }: Run) {
    super()
    this.home = home
    this.child = spawn(process.execPath, [program, ...args], { cwd, env: environmentOf({ home, agent, env }) })
    started.add(this)
    this.hear(this.child)
    this.child.stdin.on('error', () => {
      // The command has ended without reading on; how it ended is in `finished`.
    })
    this.finished = once(this.child, 'close').then(([code, signal]) =>
      this.over(code as number | null, signal as string | null),
    )
  }
}

type HostedRun = Pick<Run, 'home' | 'cwd' | 'agent' | 'env'>

/** A command in the process of the tests, which goes on while they look. */
export class HostedCli extends Printing {
  readonly finished: Promise<Finished>
  readonly #command: RunningCommand

  constructor(args: readonly string[], run: HostedRun) {
    super()
    this.#command = runCommand(args, { env: environmentOf(run), cwd: run.cwd ?? workIn(run.home) })
    this.hear(this.#command)
    this.finished = this.#command.ended.then((code) => this.over(code, null))
  }

  /** More on its stdin. */
  get stdin(): Writable {
    return this.#command.stdin
  }

  signal(name: 'SIGINT' | 'SIGTERM'): void {
    this.#command.signal(name)
  }
}

/** It is ended with its test, where that has called `endServers`. */
export function startHere(args: readonly string[], run: HostedRun): HostedCli {
  const cli = new HostedCli(args, run)
  hosted.add(cli)
  return cli
}

const hosted = new PerTest<HostedCli>(async (all) => {
  for (const cli of all) cli.signal('SIGTERM')
  await Promise.all(all.map(({ finished }) => finished))
})

/** Homes whose server serves a whole file. */
const shared = new Set<string>()

const started = new PerTest<Cli>(async (opened) => {
  // First the commands that would start a server again.
  for (const { child } of opened) child.kill('SIGKILL')
  for (const home of new Set(opened.map((cli) => cli.home))) if (!shared.has(home)) killServer(home)
})

/** Call once in a test file: no server that a command has started in the background outlives its test. */
export function endServers(): void {
  endHosted()
  started.closeAfterEach()
  // Before the servers that they speak with.
  hosted.closeAfterEach()
}

/** A test's own place on a server that others use too. */
export interface Lodging extends Run {
  readonly cwd: string
  readonly socket: string
  readonly agent: string
}

/**
 * Call once in a test file whose tests can share one server, which costs less than one for each: it gives each of them a
 * working directory and a scripted agent. A test that harms its server, or lists all sessions, needs a state directory alone.
 */
export function shareServer(): (...steps: readonly Fields[]) => Promise<Lodging> {
  const home = join(freshDirectory(), 'home')
  shared.add(home)
  endSharedHosted()
  beforeAll(() => serveHere({ home }))
  return async (...steps) => ({ home, socket: socketPathOf(home), ...(await workplace(steps)) })
}

/** What the server lists for a directory; `parley ls` would cost a process. */
export async function sessionsIn(place: Pick<Lodging, 'home' | 'cwd'>): Promise<readonly Fields[]> {
  const { sessions } = await ask(place, 'session/list', { cwd: place.cwd })
  return sessions as readonly Fields[]
}

/** A session of the server; `parley new` would cost a process. */
export async function sessionIn(place: Pick<Lodging, 'home' | 'cwd' | 'agent'>): Promise<string> {
  const { sessionId } = await ask(place, 'session/new', { cwd: place.cwd, mcpServers: [] })
  return String(sessionId)
}

/** One request, without a process for it. Starts the server where none runs. */
export async function ask(place: Pick<Run, 'home' | 'agent'>, method: string, params: Fields): Promise<Fields> {
  const { home, agent } = place
  const socket = socketPathOf(home)
  await startServer({ home, socket, environment: environmentOf({ home }), program: binary })
  const client = await RawSocket.open(socket, agent === undefined ? {} : { agent })
  const { result, error } = await client.request(method, params)
  await client.leave()
  if (result === undefined) throw new Error(`${method} was refused: ${error?.message}`)
  return result
}

/** `kill -9`. False when there is none that has a process of its own. */
export function killServer(home: string): boolean {
  const holder = readPidFile(home)
  if (holder?.isServer !== true || holder.pid === process.pid) return false
  process.kill(holder.pid, 'SIGKILL')
  // Until it has ended its socket may take connections.
  while (runs(holder.pid)) Atomics.wait(PAUSE, 0, 0, 1)
  return true
}

const PAUSE = new Int32Array(new SharedArrayBuffer(4))

/** Read by Node itself, or by what a process does only once. */
const OF_A_PROCESS = /^(?:NODE_.*|TMPDIR|PARLEY_FAULTS)$/u

/**
 * Runs it to its end with `input` on stdin: in the process of the tests, for what a command prints and does. What cannot share
 * one has its own: another build, a command that is to die, and one that others find by its id.
 */
export async function parley(args: readonly string[], run: Run, input = ''): Promise<Finished> {
  const needsProcess =
    run.program !== undefined ||
    args[0] === 'acp' ||
    // ssh writes to the stderr of the process.
    args.some((arg) => arg.startsWith('ssh://')) ||
    Object.keys(run.env ?? {}).some((name) => OF_A_PROCESS.test(name))
  if (needsProcess) return parleyProcess(args, run, input)
  const cli = new HostedCli(args, run)
  cli.stdin.end(input)
  return cli.finished
}

/** The same in a process of its own, for what is said of processes: that it ends, what it inherits, whom it signals. */
export function parleyProcess(args: readonly string[], run: Run, input = ''): Promise<Finished> {
  const cli = new Cli(args, run)
  cli.child.stdin.end(input)
  return cli.finished
}

/** Of the session that the output of `run --json` is about. */
export function sessionIdIn(stdout: string): string {
  return String(jsonLines(stdout.slice(0, stdout.indexOf('\n')))[0]?.['sessionId'])
}

export function workIn(home: string): string {
  const work = join(home, 'work')
  mkdirSync(work, { recursive: true })
  return work
}

export function jsonLines(text: string): readonly Readonly<Record<string, unknown>>[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
}
