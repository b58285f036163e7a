/** When a server that was lost is started again: at once, then later and later, and a process not for ever. */

export interface RestartRules {
  /** Milliseconds to wait after each loss in a row. */
  readonly pausesMs: readonly number[]
  /** Whoever ran this long is not counted as lost in a row. */
  readonly steadyMs: number
  /** Whether the last pause holds for ever after, or no restart follows it. */
  readonly forEver: boolean
}

export interface Restarts {
  /** It was lost after a life of `livedMs`: how long to wait now, or undefined when it was lost too often. */
  lost(livedMs: number): number | undefined
  /** How often it was lost in a row. */
  readonly count: number
  /** Somebody asks for it anew: what was is forgotten. */
  forgive(): void
}

export function countRestarts({ pausesMs, steadyMs, forEver }: RestartRules): Restarts {
  let count = 0
  return {
    lost(livedMs) {
      count = livedMs >= steadyMs ? 1 : count + 1
      return pausesMs[count - 1] ?? (forEver ? pausesMs.at(-1) : undefined)
    },
    get count() {
      return count
    },
    forgive() {
      count = 0
    },
  }
}
