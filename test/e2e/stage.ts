/** Starts binaries for a test file, and looks at each when its test is over: every line it wrote must be good ACP. */
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect } from 'vitest'
import type { Fields } from './message.ts'
import { type Start, freshDirectory, initialize, scriptAgent, startParley } from './parley.ts'
import type { RawClient } from './raw-client.ts'
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

const clients: RawClient[] = []
const stages: Stage[] = []

/** Call once in a test file that opens a stage per test. */
export function cleanUp(): void {
  afterEach(async () => {
    const opened = clients.splice(0)
    for (const client of opened) if (!client.gone) await client.kill()
    for (const stage of stages.splice(0)) stage.remove()
    expect(opened.flatMap(deviations)).toEqual([])
  })
}

export async function stageWith(steps: readonly Fields[]): Promise<Stage> {
  const stage = await openStage(steps)
  stages.push(stage)
  return stage
}

export function start(stage: Stage, more: Partial<Start> = {}): RawClient {
  const client = stage.start(more)
  clients.push(client)
  return client
}

/** Started, and past the first exchange. */
export async function connect(stage: Stage): Promise<RawClient> {
  const client = start(stage)
  await initialize(client)
  return client
}
