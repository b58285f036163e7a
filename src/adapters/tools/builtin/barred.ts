/** What rules keep from a call, for tools that come upon it: behind a link, in a list, in a search. */
import type { Bars } from '../../../ports/tools.ts'
import { amount, refuse } from './result.ts'
import type { Call } from './tool.ts'

/** Somebody may have swapped a link since it was decided what the call may do. */
export function requireFree(real: string, { caller: { bars } }: Call): void {
  const bar = bars(real)
  if (bar === 'denied') refuse('Not allowed: a rule denies this path.')
  if (bar === 'asked') refuse('Not allowed: this path is asked about, and leads elsewhere than when that was decided.')
}

/** What is left out while a tool goes through a directory. */
export interface LeftOut {
  /** Whether this is left out; counts it if so. */
  readonly has: (real: string) => boolean
  /** What to say of it at the end. */
  words(): readonly string[]
}

/** `isRead`: what would be asked about is left out too, because its content would be told and not merely its name. */
export function leavingOut(bars: Bars, { isRead }: { readonly isRead: boolean }): LeftOut {
  const counts = { denied: 0, asked: 0 }
  return {
    has: (real) => {
      const bar = bars(real)
      if (bar === undefined || (bar === 'asked' && !isRead)) return false
      counts[bar] += 1
      return true
    },
    words() {
      const { denied, asked } = counts
      return [
        ...(denied > 0 ? [`[Left out, because rules deny them: ${amount(denied)}.]`] : []),
        ...(asked > 0
          ? [`[Left out, because they are asked about: ${amount(asked)}. Name one as path to have it asked.]`]
          : []),
      ]
    },
  }
}
