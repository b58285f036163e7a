/** Who tells the tale in a town of chaos: the script agent, or another one of its own (`agents/`). */
import { scriptAgent } from '../../e2e/parley.ts'
import type { Finding } from '../evidence.ts'
import type { ChaosPlan } from './plan.ts'

export type Tally = Readonly<Record<string, number>>

export interface Teller {
  /** As `--agent` names it. */
  readonly agent: string
  /** From the next session on it tells the story of this plan. */
  becomes(plan: ChaosPlan): Promise<void>
  /** Its own processes, if it has any. */
  processes(): readonly number[]
  /** From now on nothing goes wrong with it by itself. */
  calm(): void
  /** What was asked of it, how often. */
  tally(): Tally
  /** What it alone can tell of what the server did to it. */
  findings(): readonly Finding[]
}

export async function scriptTeller(directory: string): Promise<Teller> {
  return {
    agent: await scriptAgent(directory, []),
    becomes: async ({ story }) => void (await scriptAgent(directory, story.steps)),
    processes: () => [],
    calm: () => undefined,
    tally: () => ({}),
    findings: () => [],
  }
}
