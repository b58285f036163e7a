/** Many runs of chaos in clusters, some at a time, and what they come to as a page to read. */
import { setTimeout as sleep } from 'node:timers/promises'
import { chanceOf } from '../../series/chance.ts'
import type { Scenario, Series } from '../../series/series.ts'
import type { Finding } from '../evidence.ts'
import type { Phase } from '../phase.ts'
import { reportDeeds, totals } from '../report.ts'
import { patiently } from '../town.ts'
import { befall } from './harm.ts'
import { type ClusterDeed, type ClusterPlan, clusterPlanOf } from './plan.ts'
import { Stage } from './stage.ts'
import { Tale } from './tale.ts'

/** Runs on one stage, and sessions in one run. */
const RUNS = 8
const SESSIONS = 2

export interface ClusterResult {
  readonly plan: ClusterPlan
  readonly done: readonly { readonly deed: ClusterDeed; readonly phase: Phase }[]
  readonly findings: readonly Finding[]
}

export interface ClusterOptions {
  readonly bin: string
  readonly keep?: boolean
  /** No run begins after this time of `performance.now()`. */
  readonly deadline?: number
}

/** A unit is the seeds of the runs that share a stage. */
export function chaosInClusters(
  seeds: readonly number[],
  options: ClusterOptions,
): Scenario<readonly number[], ClusterResult> & Pick<Series<readonly number[]>, 'units' | 'runs'> {
  const shares = Array.from({ length: Math.ceil(seeds.length / RUNS) }, (_, n) => seeds.slice(n * RUNS, (n + 1) * RUNS))
  return {
    units: shares[Symbol.iterator](),
    runs: seeds.length,
    play: (share) => playStage(share, options),
    findings: ({ findings }) => findings.map(({ kind, what }) => `${kind}: ${what}`),
    title: ({ plan, done }) => `seed ${plan.seed}: ${done.map(({ deed, phase }) => `${deed} ${phase}`).join('; ')}`,
    again: ({ plan }) => `npm run chaos -- --cluster --seeds ${plan.seed}`,
  }
}

/** Up to the first one that finds something: what follows could be its consequence. */
async function playStage(seeds: readonly number[], options: ClusterOptions): Promise<readonly ClusterResult[]> {
  const stage = await Stage.open(options.bin)
  const results: ClusterResult[] = []
  try {
    for (const seed of seeds) {
      const isLast = results.length === seeds.length - 1 || performance.now() > (options.deadline ?? Infinity)
      const result = await playRun(stage, clusterPlanOf(seed), { bin: options.bin, isLast })
      results.push(result)
      if (isLast || result.findings.length > 0) break
    }
    return results
  } finally {
    await stage.close(options.keep)
  }
}

async function playRun(
  stage: Stage,
  plan: ClusterPlan,
  { bin, isLast }: { readonly bin: string; readonly isLast: boolean },
): Promise<ClusterResult> {
  const tales: Tale[] = []
  const done: { readonly deed: ClusterDeed; readonly phase: Phase }[] = []
  const findings: Finding[] = []
  try {
    await patiently('the cluster to be whole', stage.whole())
    for (let n = 0; n < SESSIONS; n += 1) tales.push(await Tale.begin(stage, plan, n))
    const harmed = harmAll(stage, plan, { tale: tales[0], bin, done })
    const [, ...found] = await Promise.all([harmed, ...tales.map((tale) => harmed.then(() => tale.end()))])
    findings.push(...found.flat())
    if (isLast || findings.length > 0)
      findings.push(...(await stage.empty()).map((one): Finding => ({ kind: 'wrong', what: `process ${one} stays` })))
  } catch (error) {
    findings.push({ kind: 'without an end', what: `the run broke off: ${String(error)}\n  ${stage.traces()}` })
  } finally {
    for (const tale of tales) tale.leave()
  }
  return { plan, done, findings }
}

interface Harming {
  readonly tale: Tale | undefined
  readonly bin: string
  readonly done: { readonly deed: ClusterDeed; readonly phase: Phase }[]
}

async function harmAll(stage: Stage, plan: ClusterPlan, { tale, bin, done }: Harming): Promise<void> {
  if (tale === undefined) return
  const chance = chanceOf(plan.seed + 1)
  for (const { message, afterMs, deeds } of plan.moments) {
    await tale.hasHeard(message)
    await sleep(afterMs)
    const [first] = stage.nodes
    const owner = (await stage.owner(tale.sessionId)) ?? first
    const others = stage.nodes.filter((node) => node !== owner)
    const other = others[chance.between(0, others.length - 1)]
    if (owner === undefined || other === undefined) return
    for (const deed of deeds) done.push({ deed, phase: tale.phase() })
    const harm = { stage, tale, owner, other, chance, standMs: plan.standMs, bin }
    await Promise.all(deeds.map((deed) => befall(deed, harm)))
  }
}

/** Prints it, and gives the exit code. */
export function reportClusters(results: readonly ClusterResult[], seconds: number): number {
  const done = results.flatMap((result) => result.done)
  console.log(
    `\n${results.length} runs in clusters, in which ${done.length} things went wrong, in ${seconds.toFixed(0)} s`,
  )
  reportDeeds(done)
  if (process.getuid?.() !== 0)
    console.log('NOT TRIED: a full disk of the database, which takes the right to mount one.')
  console.log(totals(results))
  return results.every(({ findings }) => findings.length === 0) ? 0 : 1
}
