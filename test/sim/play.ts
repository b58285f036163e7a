/** Plays seeds, and makes a failing scenario as short as it can be while it still fails. */
import type { Finding } from './oversight.ts'
import { comeToRest } from './rest.ts'
import { type Action, type Scenario, scenarioOf, wordsOf } from './scenario.ts'
import { Simulation } from './simulation.ts'

export interface Outcome {
  readonly seed: number
  readonly clients: number
  readonly findings: readonly Finding[]
  /** How many entries were stored: a run in which nothing could be done proves nothing. */
  readonly entries: number
}

export async function playSeed(seed: number, mostClients: number, edition?: number): Promise<Outcome> {
  const scenario = scenarioOf(seed, mostClients, edition)
  const simulation = new Simulation(scenario)
  await playOn(simulation, scenario)
  const { findings, storage } = simulation.oversight
  const entries = [...storage.log].reduce((sum, [, stored]) => sum + stored.length, 0)
  return { seed, clients: scenario.clients, findings, entries }
}

async function play(scenario: Scenario): Promise<readonly Finding[]> {
  const simulation = new Simulation(scenario)
  await playOn(simulation, scenario)
  return simulation.oversight.findings
}

async function playOn(simulation: Simulation, scenario: Scenario): Promise<void> {
  try {
    for (const action of scenario.actions) await simulation.take(action)
    await comeToRest(simulation)
  } catch (error) {
    simulation.oversight.found(0, `the simulation broke: ${error instanceof Error ? error.stack : String(error)}`)
  }
}

/** Everything that was stored in a run, for whoever wants to see that it is the same every time. */
export async function trace(
  seed: number,
  mostClients: number,
): Promise<readonly (readonly [string, readonly unknown[]])[]> {
  const simulation = new Simulation(scenarioOf(seed, mostClients))
  await playOn(simulation, scenarioOf(seed, mostClients))
  return [...simulation.oversight.storage.log]
}

export interface Shrunk {
  readonly actions: readonly string[]
  readonly findings: readonly Finding[]
}

/** Drops actions, many at a time and then one by one, as long as it fails in the same way. */
export async function shrink(seed: number, mostClients: number, edition?: number): Promise<Shrunk> {
  let scenario = scenarioOf(seed, mostClients, edition)
  let findings = await play(scenario)
  const kind = kindOf(findings[0])
  for (let size = Math.ceil(scenario.actions.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < scenario.actions.length;) {
      const actions = without(scenario.actions, at, size)
      const found = await play({ ...scenario, actions })
      const stillFails = found.some((finding) => kindOf(finding) === kind)
      if (stillFails) [scenario, findings] = [{ ...scenario, actions }, found]
      else at += size
    }
  }
  return { actions: scenario.actions.map(wordsOf), findings }
}

/** The words of a finding without its names and numbers. */
function kindOf(finding: Finding | undefined): string {
  const words = finding?.what.replaceAll(/\S*\d\S*|“[^”]*”|\{.*/gu, '') ?? ''
  return `${finding?.promise} ${words.trim().split(/\s+/u).slice(0, 5).join(' ')}`
}

function without(actions: readonly Action[], at: number, count: number): readonly Action[] {
  return [...actions.slice(0, at), ...actions.slice(at + count)]
}
