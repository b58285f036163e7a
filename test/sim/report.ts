/** A seed that failed, in words: what broke, the fewest actions that still break it, and how to see it again. */
import type { Outcome, Shrunk } from './play.ts'

/** Findings of one seed that are printed. */
const SHOWN = 5

export function failureOf({ seed, findings }: Outcome, shrunk: Shrunk): string {
  return [
    `seed ${seed} breaks`,
    ...findings.slice(0, SHOWN).map(({ promise, what }) => `  promise ${promise}: ${what}`),
    `with no more than`,
    ...shrunk.actions.map((action) => `  ${action}`),
    ...shrunk.findings.slice(0, 1).map(({ promise, what }) => `which breaks promise ${promise}: ${what}`),
  ].join('\n')
}
