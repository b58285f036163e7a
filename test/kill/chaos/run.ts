/** Runs of chaos, one after the other in one town: each on a session of its own, with those whom the last one has left. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RawClient } from '../../e2e/raw-client.ts'
import type { Finding } from '../evidence.ts'
import { Town, patiently } from '../town.ts'
import { freePort } from '../../fixtures/process/free-port.ts'
import type { Pair } from './cast.ts'
import { environmentOf } from './orders.ts'
import type { ChaosPlan } from './plan.ts'
import { type Around, type Done, Round } from './round.ts'
import { wantsOwnDisk } from './rounds.ts'
import { type Tally, scriptTeller } from './teller.ts'
import { FakeTeller } from './agents/fake-teller.ts'

export interface ChaosResult {
  readonly plan: ChaosPlan
  /** The seeds of those that were played in the town before, in that order. */
  readonly before: readonly number[]
  /** When what was done. */
  readonly done: readonly Done[]
  readonly findings: readonly Finding[]
  /** This machine could not do to its server what the plan says; all else was done. */
  readonly isMild: boolean
  readonly tally: Tally
}

export interface ChaosOptions {
  readonly bin?: string
  readonly keep?: boolean
  /** No run begins after this time of `performance.now()`. */
  readonly deadline?: number
}

/** Plays them in this order up to the first one that finds something: what follows could be its consequence. */
export async function runTown(
  plans: readonly ChaosPlan[],
  { bin, keep, deadline = Infinity }: ChaosOptions = {},
): Promise<readonly ChaosResult[]> {
  const directory = mkdtempSync(join(tmpdir(), 'parley-town-'))
  const orders = join(directory, 'orders')
  mkdirSync(orders)
  const isFake = plans.some(({ kind }) => kind !== undefined)
  const teller = isFake ? new FakeTeller(directory) : await scriptTeller(directory)
  const env = {
    ...environmentOf(plans, orders),
    PARLEY_LISTEN: String(await freePort()),
    PARLEY_REMOTE_REQUESTS_PER_SECOND: '1000',
  }
  const town = Town.foundAt(directory, teller.agent, { bin, hasNoTool: isFake, env })
  const wantsDisk = plans.some(wantsOwnDisk)
  const isSmall = wantsDisk && mountSmall(town.home)
  try {
    return await new Company(town, { orders, teller, isMild: wantsDisk && !isSmall }).play(plans, deadline)
  } finally {
    if (isSmall) await town.raze(true)
    if (isSmall) execFileSync('umount', ['-l', town.home])
    await town.raze(keep)
  }
}

/** False where only root may do that, and we are not. */
function mountSmall(home: string): boolean {
  mkdirSync(home)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=32m,mode=0700', 'tmpfs', home], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Who goes on from one run to the next: the server as it is, and the relays that live. */
class Company {
  readonly #town: Town
  readonly #around: Around
  #relays: readonly RawClient[] = []

  constructor(town: Town, around: Around) {
    this.#town = town
    this.#around = around
  }

  async play(plans: readonly ChaosPlan[], deadline: number): Promise<readonly ChaosResult[]> {
    const results: ChaosResult[] = []
    for (const plan of plans) {
      const before = results.map((result) => result.plan.seed)
      const isLast = plans.length - 1 === before.length || performance.now() > deadline
      const result = await this.#playOne(plan, before, isLast)
      results.push(result)
      if (isLast || result.findings.length > 0) break
    }
    return results
  }

  async #playOne(plan: ChaosPlan, before: readonly number[], isLast: boolean): Promise<ChaosResult> {
    const round = new Round(this.#town, plan, this.#around)
    const findings: Finding[] = []
    try {
      if (before.length === 0) await this.#town.serve()
      findings.push(...(await round.play(await this.#pair())))
      this.#relays = round.relays
      if (isLast || findings.length > 0) findings.push(...(await this.#town.empty()).map(stays))
    } catch (error) {
      findings.push({ kind: 'without an end', what: `the run broke off: ${String(error)}\n  ${round.traces()}` })
    } finally {
      await round.leave()
    }
    return { plan, before, done: round.done, findings, isMild: round.isMild, tally: round.tally }
  }

  /** Two relays, of which those are new whose place is empty; they have heard nothing of what is to come. */
  async #pair(): Promise<Pair> {
    const living = this.#relays.filter(({ gone }) => !gone).slice(-2)
    for (const relay of living) relay.received.splice(0)
    const [one, other] = living
    const relay = (known?: RawClient) => known ?? this.#town.relay()
    return patiently('two relays', Promise.all([relay(one), relay(other)]))
  }
}

function stays(process: string): Finding {
  return { kind: 'wrong', what: `process ${process} stays` }
}
