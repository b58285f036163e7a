/** Starts binaries for a test file, and looks at each when its test is over: every line it wrote must be good ACP. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect } from 'vitest'
import { PerTest } from '../fixtures/process/per-test.ts'
import { serveHere } from './hosted-server.ts'
import type { Fields } from './message.ts'
import { type Start, initialize, startParley, workplace } from './parley.ts'
import { RawClient } from './raw-client.ts'
import { RawSocket } from './raw-socket.ts'
import { deviations } from './schema.ts'
import { type Place, cleanUpSharedServers, placeWith } from './server.ts'

export interface Stage {
  readonly home: string
  readonly cwd: string
  start(more?: Partial<Start>): RawClient
  remove(): void
}

/** A state directory, a working directory and a script. */
async function openStage(steps: readonly Fields[]): Promise<Stage> {
  const { directory, cwd, agent } = await workplace(steps)
  const home = join(directory, 'home')
  return {
    home,
    cwd,
    start: (more = {}) => startParley({ home, agent, ...more }),
    remove: () => rmSync(directory, { recursive: true, force: true, maxRetries: 3 }),
  }
}

const opened = new PerTest<RawClient | RawSocket | Stage>(async (all) => {
  for (const one of all) {
    if (one instanceof RawSocket) await one.leave()
    else if (one instanceof RawClient && !one.gone) await one.kill()
  }
  const clients = all.filter((one) => one instanceof RawClient || one instanceof RawSocket)
  for (const one of all) if ('remove' in one) one.remove()
  expect(clients.flatMap(deviations)).toEqual([])
})

/** Call once in a test file that opens a stage per test. */
export function cleanUp(): void {
  opened.closeAfterEach()
}

export async function stageWith(steps: readonly Fields[]): Promise<Stage> {
  const stage = await openStage(steps)
  opened.add(stage)
  return stage
}

export function start(stage: Stage, more: Partial<Start> = {}): RawClient {
  const client = stage.start(more)
  opened.add(client)
  return client
}

/** Started, and past the first exchange. */
export async function connect(stage: Stage): Promise<RawClient> {
  const client = start(stage)
  await initialize(client)
  return client
}

/** A test's own connection to the server of its file, with its own agent and working directory. */
export interface Connection {
  readonly client: RawSocket
  readonly cwd: string
}

/**
 * Call once in a test file, besides `cleanUp`, whose tests need a connection rather than a process of their own: one server
 * costs less than one for each test.
 */
export function connectionsToOneServer(): (agent: readonly Fields[] | 'guide') => Promise<Connection> {
  cleanUpSharedServers()
  let place: Place
  beforeAll(async () => {
    place = await placeWith()
    await serveHere(place)
  })
  return async (wanted) => {
    const { cwd, agent } = await workplace(wanted === 'guide' ? [] : wanted)
    const client = await RawSocket.open(place.socket, { agent: wanted === 'guide' ? wanted : agent })
    opened.add(client)
    return { client, cwd }
  }
}
