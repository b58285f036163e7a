/** Which runs share a town: after one is judged, what is left of the town plays the next one, on a new session. */
import type { ChaosPlan, Deed } from './plan.ts'

/** So many runs in a town at most: what goes wrong with a fresh one must go wrong too. */
const MOST = 10

/** Of those who have cut the journal short nobody goes on. */
const RUINS: ReadonlySet<Deed> = new Set(['cut the log short', 'cut the file short'])

/** Conditions of a disk that is nobody else's. */
const OF_ITS_OWN: ReadonlySet<ChaosPlan['condition']['kind']> = new Set([
  'has a small disk',
  'has a directory that turns read-only',
])

export function wantsOwnDisk({ condition }: ChaosPlan): boolean {
  return OF_ITS_OWN.has(condition.kind)
}

/** In the order in which they are played; the same plans always share a town in the same order. */
export function townsOf(plans: readonly ChaosPlan[]): readonly (readonly ChaosPlan[])[] {
  return [true, false].flatMap((isOwn) => shared(plans.filter((plan) => wantsOwnDisk(plan) === isOwn)))
}

function shared(plans: readonly ChaosPlan[]): readonly (readonly ChaosPlan[])[] {
  const ruins = plans.filter(isRuin)
  const others = plans.filter((plan) => !isRuin(plan))
  const count = Math.max(Math.ceil(plans.length / MOST), ruins.length)
  return Array.from({ length: count }, (_, town) => [
    ...others.filter((_plan, index) => index % count === town),
    ...ruins.slice(town, town + 1),
  ])
}

function isRuin({ moments }: ChaosPlan): boolean {
  return moments.some(({ deeds }) => deeds.some((deed) => RUINS.has(deed)))
}
