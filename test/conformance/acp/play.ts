/** Plays one case: opens its stage, has the talk, judges it, and looks at all that was said. */
import { type Case, isTagged } from './case.ts'
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
export function obstacleFor(one: Case, { scripted, manyClients, carriesBytes }: Transport): string | undefined {
  if (!scripted && (one.script !== undefined || one.env !== undefined))
    return 'only a scripted agent does this when it is told to'
  if (!scripted && isTagged(one, 'ours')) return 'the standard is silent'
  if (!manyClients && isTagged(one, 'company')) return 'one pipe has one client'
  return !carriesBytes && isTagged(one, 'bytes') ? 'it carries whole messages only' : undefined
}

function complaintsIn(stage: Stage): Played['complaints'] {
  try {
    return complaintsOf(stage.transcript)
  } catch {
    // Nothing was opened, so nothing was said.
    return new Map()
  }
}
