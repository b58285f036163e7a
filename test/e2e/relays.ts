/** Starts relays as editors would, all on one state directory, and ends the server that serves them as roughly as a test wants. */
import { spawn } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { DATABASE, type Owner, behindFront } from '../conformance/relay/behind-front.ts'
import { shareServer } from './cli.ts'
import { environmentOf } from './environment.ts'
import { PerTest } from '../fixtures/process/per-test.ts'
import { carrying, runs, serverOf, signal, until } from '../fixtures/process/running.ts'
import { type Fields, updatesIn } from './message.ts'
import { binary, initialize, newSession, workplace } from './parley.ts'
import { RawClient } from './raw-client.ts'
import { deviations } from './schema.ts'

export interface Place {
  readonly home: string
  readonly cwd: string
  readonly agent: string
  /** Of its server and of commands: that of a front node, where the sessions are to be at another one. */
  readonly env?: Readonly<Record<string, string>>
  readonly owner?: Owner
}

const opened = new PerTest<RawClient | Place>(async (all) => {
  const relays = all.filter((one) => one instanceof RawClient)
  for (const relay of relays) if (!relay.gone) await relay.kill()
  for (const one of all) if (!(one instanceof RawClient)) await remove(one)
  expect(relays.flatMap(deviations)).toEqual([])
})

/** Call once in a test file. Every line that a relay wrote must be good ACP, and no process may stay. */
export function cleanUp(): void {
  opened.closeAfterEach()
}

async function remove({ home }: Place): Promise<void> {
  const homes = [home, join(home, '..', 'owner')]
  const left = () => homes.flatMap((one) => carrying(`PARLEY_HOME=${one}`))
  await until(() => {
    for (const pid of left()) signal(pid, 'SIGKILL')
    return left().length === 0
  })
  rmSync(join(home, '..'), { recursive: true, force: true, maxRetries: 3 })
}

export async function placeWith(steps: readonly Fields[]): Promise<Place> {
  const { directory, ...work } = await workplace(steps)
  const place = { home: join(directory, 'home'), ...work }
  opened.add(place)
  const behind = await behindFront(place.home)
  return behind === undefined ? place : { ...place, ...behind }
}

/** Call once in a test file: a place on a server that all its tests share, but for a front node, which is one for each test. */
export function lodgings(): (...steps: readonly Fields[]) => Promise<Place> {
  return process.env[DATABASE] === undefined ? shareServer() : (...steps) => placeWith(steps)
}

export interface RelayStart {
  readonly bin?: string
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

export function startRelay(
  { home, agent, env: shared }: Place,
  { bin = binary, args, env = {} }: RelayStart = {},
): RawClient {
  const child = spawn(process.execPath, [bin, 'acp', ...(args ?? ['--agent', agent])], {
    cwd: '/',
    env: environmentOf({ home, env: { ...shared, ...env } }),
  })
  const relay = new RawClient(child)
  opened.add(relay)
  return relay
}

/** Started, and past the first exchange. */
export async function connect(place: Place, start?: RelayStart): Promise<RawClient> {
  const relay = startRelay(place, start)
  await initialize(relay)
  return relay
}

/** Two relays, the first of which has made a session that the second has joined. */
export async function connectTwo(
  place: Place,
  mcpServers: readonly Fields[] = [],
): Promise<{ readonly one: RawClient; readonly other: RawClient; readonly sessionId: string }> {
  const one = await connect(place)
  const sessionId = await newSession(one, place.cwd, mcpServers)
  const other = await connect(place)
  await other.request('session/resume', { sessionId, cwd: place.cwd, mcpServers: [] })
  return { one, other, sessionId }
}

/** `kill -9`, of a front together with the node that has the sessions, which is started again; resolves when the process is gone. */
export async function killServer(place: Place): Promise<number> {
  const pid = serverOf(place)
  if (pid === undefined) throw new Error('no server runs')
  const { owner } = place
  const other = owner && serverOf(owner)
  for (const one of [pid, other]) if (one !== undefined) signal(one, 'SIGKILL')
  await until(() => !runs(pid) && (other === undefined || !runs(other)))
  await owner?.start()
  return pid
}

/** Each server that ever listened there, by the log. */
export function serversStarted({ home }: Place): readonly number[] {
  const lines = readFileSync(join(home, 'parley.log'), 'utf8').split('\n')
  return lines
    .filter((line) => line.includes('"msg":"started"'))
    .map((line) => (JSON.parse(line) as { pid: number }).pid)
}

/** The cursors of what a client was told of a session, as they came. */
export function cursorsOf(relay: RawClient, sessionId: string): readonly number[] {
  return updatesIn(relay.received, sessionId).map(({ seq }) => seq)
}

/** What was told of a session, from its very beginning, by a server that is asked for all of it. */
export async function transcriptOf(place: Place, sessionId: string) {
  const reader = await connect(place)
  await reader.request('session/load', { sessionId, cwd: place.cwd, mcpServers: [] })
  return updatesIn(reader.received, sessionId)
}
