/**
 * How many sessions stream at the pace of a real model until tokens come late: the number is raised until the lag of the
 * 99th of 100 tokens passes a tenth of a second; with more clients on every session, and with some that read nothing.
 */
import { type Measuring, type Row, ms, quantile } from '../../row.ts'
import { paceOfModel } from './pace.ts'

const STEP = 25
const MOST = 300
const LAG_MS = 100
const GOAL = 150

/** `watchers` are the clients of each session besides the one that prompts; `slow` of them read nothing. */
const CASES = [
  { clients: 1, watchers: 0, slow: 0 },
  { clients: 2, watchers: 1, slow: 0 },
  { clients: 20, watchers: 19, slow: 0 },
  { clients: 20, watchers: 19, slow: 2 },
] as const

export async function capacity({ quick, directory }: Measuring): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (const { clients, watchers, slow } of CASES) {
    const steps: Step[] = []
    for (let sessions = STEP; sessions <= MOST; sessions += STEP) {
      const { lags } = await paceOfModel({ sessions, tokens: quick ? 50 : 200, directory, watchers, slow })
      steps.push({ sessions, lag: quantile(lags, 0.99) })
      if (quantile(lags, 0.99) > LAG_MS) break
    }
    rows.push(
      rowOf(
        `${clients} client${clients === 1 ? '' : 's'} each${slow > 0 ? `, ${slow} of them read nothing` : ''}`,
        steps,
      ),
    )
  }
  return rows
}

interface Step {
  readonly sessions: number
  readonly lag: number
}

function rowOf(what: string, steps: readonly Step[]): Row {
  const reached = steps.findLast(({ lag }) => lag <= LAG_MS)
  const last = steps.at(-1)
  return {
    what: `sessions at 50 tokens a second, ${what}`,
    measured: `${reached?.sessions ?? 0} (lag p99 ${ms(reached?.lag ?? Number.NaN)})`,
    goal: what.startsWith('1 ') ? `≥ ${GOAL}` : '–',
    floor: last === undefined ? '–' : `${last.sessions}: ${ms(last.lag)}`,
    ok: (reached?.sessions ?? 0) >= GOAL,
  }
}
