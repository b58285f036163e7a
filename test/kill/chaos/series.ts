/** Many runs of chaos, some at a time, and what they come to as a page to read. */
import { type Scenario, type Series, countsOf } from '../../series/series.ts'
import { reportDeeds, totals } from '../report.ts'
import type { Kind } from './agents/kinds.ts'
import type { ChaosPlan } from './plan.ts'
import { townsOf } from './rounds.ts'
import { type ChaosOptions, type ChaosResult, runTown } from './run.ts'

/** Several clients on one server, and whatever can go wrong goes wrong; a unit is the runs that share a town. */
export function chaosIn(
  plans: readonly ChaosPlan[],
  options: ChaosOptions = {},
): Scenario<readonly ChaosPlan[], ChaosResult> & Pick<Series<readonly ChaosPlan[]>, 'units' | 'runs'> {
  const towns = [...townsOf(plans)]
  return {
    units: {
      next() {
        const town = towns.shift()
        return town === undefined ? { done: true, value: undefined } : { value: town }
      },
    },
    runs: plans.length,
    async play(town) {
      const played = await runTown(town, options)
      // A town ends with the first run that finds something; those that were to follow get one of their own.
      if (played.length < town.length) towns.push(town.slice(played.length))
      return played
    },
    findings: ({ findings }) => findings.map(({ kind, what }) => `${kind}: ${what}`),
    title: ({ plan: { seed, condition, kind }, done }) =>
      `seed ${seed}${agentOf(kind)}: the server ${condition.kind}; ${done.map(({ deed, phase }) => `${deed} ${phase}`).join('; ')}`,
    again({ plan: { seed, kind }, before }) {
      const which = kind === undefined ? '' : '--agent fake '
      const alone = before.length === 0 ? '' : `, or alone: npm run chaos -- ${which}--seeds ${seed}`
      return `npm run chaos -- ${which}--seeds ${[...before, seed].join(',')}${alone}`
    },
  }
}

/** What was not tried is said, lest its absence be taken for its success. */
export function milder(results: readonly ChaosResult[]): readonly string[] {
  const kinds = results.flatMap(({ plan, isMild }) => (isMild ? [plan.condition.kind] : []))
  return [...new Set(kinds)].map((kind) => {
    const count = kinds.filter((one) => one === kind).length
    return `NOT TRIED in ${count} of ${results.length} runs: “${kind}” takes root, and mount or chattr on this file system, or prlimit.`
  })
}

function agentOf(kind: Kind | undefined): string {
  return kind === undefined ? '' : `; the agent ${kind.memory} and fails so: ${kind.failing} (${kind.variant})`
}

/** What external agents were like, and what was asked of them; nothing if there were none. */
function agentsOf(results: readonly ChaosResult[]): readonly string[] {
  const kinds = results.flatMap(({ plan: { kind } }) => kind ?? [])
  if (kinds.length === 0) return []
  const counted = (values: readonly string[]): string =>
    countsOf(values)
      .map(([one, count]) => `${one} ${count}`)
      .join(', ')
  const asked = [...new Set(results.flatMap(({ tally }) => Object.keys(tally)))].map((name) => {
    const count = results.reduce((sum, { tally }) => sum + (tally[name] ?? 0), 0)
    return `${name} ${count}`
  })
  return [
    `agents by memory: ${counted(kinds.map(({ memory }) => memory))}`,
    `agents by failing: ${counted(kinds.map(({ failing }) => failing))}`,
    `asked of them: ${asked.join(', ')}`,
  ]
}

/** Prints it, and gives the exit code. */
export function reportChaos(results: readonly ChaosResult[], seconds: number): number {
  const done = results.flatMap((result) => result.done)
  console.log(`\n${results.length} runs in which ${done.length} things went wrong, in ${seconds.toFixed(0)} s`)
  reportDeeds(done)
  for (const sentence of [...agentsOf(results), ...milder(results)]) console.log(sentence)
  console.log(totals(results))
  return results.every(({ findings }) => findings.length === 0) ? 0 : 1
}
