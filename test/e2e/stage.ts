/** Starts binaries for a test file, and looks at each when its test is over: every line it wrote must be good ACP. */
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { PerTest } from '../fixtures/process/per-test.ts'
import type { Fields } from './message.ts'
import { type Start, freshDirectory, initialize, scriptAgent, startParley } from './parley.ts'
import { RawClient } from './raw-client.ts'
import { deviations } from './schema.ts'

export interface Stage {
  readonly home: string
  readonly cwd: string
  start(more?: Partial<Start>): RawClient
  remove(): void
}

/** A state directory, a working directory and a script. */
async function openStage(steps: readonly Fields[]): Promise<Stage> {
  const directory = freshDirectory()
  const cwd = join(directory, 'work')
  mkdirSync(cwd)
  const home = join(directory, 'home')
  const agent = await scriptAgent(directory, steps)
  return {
    home,
    cwd,
    start: (more = {}) => startParley({ home, agent, ...more }),
    remove: () => rmSync(directory, { recursive: true, force: true, maxRetries: 3 }),
  }
}

const opened = new PerTest<RawClient | Stage>(async (all) => {
  const clients = all.filter((one) => one instanceof RawClient)
  for (const client of clients) if (!client.gone) await client.kill()
  for (const one of all) if (!(one instanceof RawClient)) one.remove()
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
