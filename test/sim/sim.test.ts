/**
 * Promises 1 to 6 and 8 of DESIGN section 2 under clients that join, leave, break, stall and race each other over a server that
 * is killed and a disk that fails. `npm run sim` plays as many more seeds as one likes.
 */
import { beforeAll, expect, test } from 'vitest'
import { loadSimulation } from './bundle.ts'
import type * as Play from './play.ts'
import { failureOf } from './report.ts'
import { KNOWN_EDITION, knownSeeds } from './seeds.ts'

/** `.ci/run` plays fresh ones. */
const SEEDS = 10
const CLIENTS = 100

let simulation: typeof Play

beforeAll(async () => {
  simulation = await loadSimulation()
})

/** Gives how many entries were stored. */
async function expectNoFailure(seed: number, edition?: number): Promise<number> {
  const outcome = await simulation.playSeed(seed, CLIENTS, edition)
  if (outcome.findings.length > 0) expect.fail(failureOf(outcome, await simulation.shrink(seed, CLIENTS, edition)))
  return outcome.entries
}

test('whatever clients, disks and crashes do, what was promised holds', async () => {
  let stored = 0
  for (let seed = 1; seed <= SEEDS; seed += 1) stored += await expectNoFailure(seed)
  // Where nothing can be done, nothing is promised.
  expect(stored).toBeGreaterThan(SEEDS * 50)
}, 180_000)

test('a seed that is typed in again gives the same run', async () => {
  const play = () => simulation.trace(7, CLIENTS)
  expect(await play()).toEqual(await play())
})

test.each(knownSeeds)('seed $seed, which once found: $found', async ({ seed }) => {
  await expectNoFailure(seed, KNOWN_EDITION)
})
