/** Says what a run broke. It knows the wire and the journal's rows, and none of the code that made them. */
import type { Evidence, Finding } from './evidence.ts'
import { checkEnds } from './check-ends.ts'
import { checkCalls } from './check-calls.ts'
import { checkHoles } from './check-holes.ts'
import { checkEffects } from './check-effects.ts'
import { checkTurns } from './check-turns.ts'
import { checkKept, checkOrder } from './check-kept.ts'

export function check(evidence: Evidence): readonly Finding[] {
  const { views, replay, journal } = evidence
  return [
    ...views.flatMap(({ updates }, index) => checkOrder(`client ${index + 1}`, updates)),
    ...views.flatMap(({ updates }, index) => checkKept(`client ${index + 1}`, updates, replay)),
    ...views.flatMap(({ updates }, index) => checkCalls(`client ${index + 1}`, updates, { journal })),
    ...checkOrder('the last load', replay),
    ...checkCalls('the last load', replay, { journal }),
    ...checkTurns(evidence),
    ...checkEnds(evidence),
    ...checkEffects(evidence),
    ...checkHoles(journal),
  ]
}
