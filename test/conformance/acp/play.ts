/** Plays one case: opens its stage, has the talk, judges it, and looks at all that was said. */
import type { Case } from './case.ts'
import { complaintsOf } from './laws.ts'
import { type Play, Stage } from './stage.ts'
import type { Transport } from './transport.ts'
import { NotApplicable, type Verdict, verdictOf } from './verdict.ts'

export interface Played {
  readonly one: Case
  readonly verdict: Verdict
  /** By the row of the law that was broken. */
  readonly complaints: ReadonlyMap<string, readonly string[]>
  /** Whether a fault that was to be put in had its occasion. */
  readonly fired: boolean
}

export async function play(one: Case, how: Play): Promise<Played> {
  const stage = new Stage(one, how)
  const verdict = await judged(one, stage, how)
  const played = { one, verdict, complaints: complaintsIn(stage), fired: stage.fired }
  await stage.close(verdict.result === 'pass' && how.mutant === undefined)
  return played
}

async function judged(one: Case, stage: Stage, { transport }: Play): Promise<Verdict> {
  try {
    const obstacle = obstacleFor(one, transport)
    if (obstacle !== undefined) throw new NotApplicable(obstacle)
    await stage.open()
    const why = one.check(await one.play(stage), stage.transcript)
    return why === undefined ? { result: 'pass' } : { result: 'fail', why }
  } catch (error) {
    return verdictOf(error)
  }
}

/** Why the case cannot be tried over this transport; undefined when it can. */
export function obstacleFor(
  { script, env, ours, company, bytes }: Case,
  { scripted, manyClients, carriesBytes }: Transport,
): string | undefined {
  if (!scripted && (script !== undefined || env !== undefined))
    return 'only a scripted agent does this when it is told to'
  if (!scripted && ours === true) return 'the standard is silent'
  if (company === true && !manyClients) return 'one pipe has one client'
  return bytes === true && !carriesBytes ? 'it carries whole messages only' : undefined
}

function complaintsIn(stage: Stage): Played['complaints'] {
  try {
    return complaintsOf(stage.transcript)
  } catch {
    // Nothing was opened, so nothing was said.
    return new Map()
  }
}
