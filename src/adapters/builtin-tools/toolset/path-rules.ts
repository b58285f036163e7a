/** What rules keep from a call, for tools that come upon it: behind a link, in a list, in a search. */
import type { PathRestriction, PathAccessFilter } from '../../../ports/bars.ts'
import { amount, refuse } from './result.ts'
import type { Call } from './tool.ts'

/** A link may lead elsewhere than when it was decided what the call may do. */
export function assertPathAllowed(real: string, { caller: { pathAccess: bars } }: Call): void {
  const bar = bars(real)
  if (bar === undefined) return
  if (bar === 'denied') refuse('Not allowed: a rule denies this path.')
  refuse('Not allowed: this path is asked about, and leads elsewhere than when that was decided.')
}

/** What is left out while a tool goes through a directory. */
export interface ExclusionCounter {
  /** Whether this is left out; counts it if so. */
  readonly has: (real: string) => boolean
  /** What to say of it at the end. */
  words(): readonly string[]
}

const NAME_IT = 'Name one as path to have it asked.'

const REASONS: readonly (readonly [bar: PathRestriction, why: string, advice: string])[] = [
  ['denied', 'rules deny them', ''],
  ['asked', 'they are asked about', ` ${NAME_IT}`],
  ['own', 'they are files of Parley itself', ` ${NAME_IT}`],
]

/** `isRead`: what would be asked about is left out too, because the tool shows its content and not only its name. */
export function countingExclusions(bars: PathAccessFilter, { isRead }: { readonly isRead: boolean }): ExclusionCounter {
  const counts: Record<PathRestriction, number> = { denied: 0, asked: 0, own: 0 }
  return {
    has: (real) => {
      const bar = bars(real)
      if (bar === undefined || (bar === 'asked' && !isRead)) return false
      counts[bar] += 1
      return true
    },
    words: () =>
      REASONS.flatMap(([bar, why, advice]) =>
        counts[bar] > 0 ? [`[Left out, because ${why}: ${amount(counts[bar])}.${advice}]`] : [],
      ),
  }
}
