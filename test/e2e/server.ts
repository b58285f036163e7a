/** Servers of the real binary for tests: in the foreground of a test, or started in the background as commands do. */
import { readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { PerTest } from '../fixtures/process/per-test.ts'
import { environmentOf } from './environment.ts'
import { socketPathOf } from '../../src/config/socket.ts'
import { type LaunchOptions, startServer } from '../../src/server/launch/launch.ts'
import { runs, until } from '../fixtures/process/running.ts'
import { Cli } from './cli.ts'
import { endHosted, endSharedHosted } from './hosted-server.ts'
import type { Fields } from './message.ts'
import { binary, newSession, workplace } from './parley.ts'
import type { RawSocket } from './raw-socket.ts'

export interface Place {
  /** The state directory. */
  readonly home: string
  readonly socket: string
  /** Where sessions work. */
  readonly cwd: string
  readonly agent: string
}

/** A process of a test, or the place of a server that a command has started. */
type Opened = { readonly cli: Cli } | { readonly directory: string; readonly home: string }

const opened = new PerTest<Opened>(async (all) => {
  for (const one of all) if ('cli' in one) one.cli.child.kill('SIGKILL')
  const places = all.flatMap((one) => ('home' in one ? one : []))
  const pids = places.flatMap(({ home }) => pidIn(home) ?? []).filter((pid) => pid !== process.pid)
  for (const pid of pids.filter(runs)) process.kill(pid, 'SIGKILL')
  await until(() => !pids.some(runs))
  for (const { directory } of places) rmSync(directory, { recursive: true, force: true, maxRetries: 3 })
})

/** Call once in a test file: no server outlives its test, however that ends. */
export function cleanUpServers(): void {
  opened.closeAfterEach()
  endHosted()
}

/** The same for a file whose tests share their servers. */
export function cleanUpSharedServers(): void {
  opened.closeAfterAll()
  endSharedHosted()
}

/** A state directory that is not there yet, a working directory and a script. */
export async function placeWith(steps: readonly Fields[] = [], inside = 'home'): Promise<Place> {
  const { directory, ...work } = await workplace(steps)
  const home = join(directory, inside)
  opened.add({ directory, home })
  return { home, socket: socketPathOf(home), ...work }
}

/** `parley serve`, listening. */
export async function serve(place: Place, env: Readonly<Record<string, string>> = {}): Promise<Cli> {
  const cli = start(place, ['serve'], env)
  await cli.until('listens on')
  return cli
}

export function start(
  { home, cwd, agent }: Place,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Cli {
  const cli = new Cli(args, { home, cwd, agent, env })
  opened.add({ cli })
  return cli
}

/** What commands start a server with. */
export function whereOf({ home, socket }: Place, env: Readonly<Record<string, string>> = {}): LaunchOptions {
  return { home, socket, environment: environmentOf({ home, env }), program: binary }
}

/** A server in the background; its pid. */
export async function startInBackground(place: Place, env: Readonly<Record<string, string>> = {}): Promise<number> {
  await startServer(whereOf(place, env))
  return pidIn(place.home) ?? 0
}

/** Resolves when nobody listens: the kernel closes what a killed process held one after the other. */
export async function deaf(socket: string): Promise<void> {
  for (;;) {
    const knocking = connect(socket)
    const refused = await new Promise((resolve) => {
      knocking.once('connect', () => resolve(false))
      knocking.once('error', () => resolve(true))
    })
    knocking.destroy()
    if (refused === true) return
  }
}

export function pidIn(home: string): number | undefined {
  try {
    return Number.parseInt(readFileSync(join(home, 'server.pid'), 'utf8'), 10)
  } catch {
    // Nobody has the state.
    return undefined
  }
}

/** A signal to process 0 would end the tests themselves. */
export function requirePid(pid: number | undefined): number {
  if (pid === undefined) throw new Error('no server runs where the test expects one')
  if (pid === process.pid) throw new Error('this server is in the process of the tests; start one with serve')
  return pid
}

export function logOf({ home }: Place): string {
  return readFileSync(join(home, 'parley.log'), 'utf8')
}

export function openSession(
  client: RawSocket,
  { cwd }: Pick<Place, 'cwd'>,
  mcpServers: readonly Fields[] = [],
): Promise<string> {
  return newSession(client, cwd, mcpServers)
}
