/** How long to wait before the next attempt: longer after each failure, up to a limit. */

export interface Backoff {
  readonly firstMs: number
  readonly longestMs: number
  /** Factor by which the pause grows after each failure; 2 if absent. */
  readonly factor?: number
}

/** Milliseconds to wait after `failures` failures in a row, which is at least one. */
export function backoffMs(failures: number, { firstMs, longestMs, factor = 2 }: Backoff): number {
  return Math.min(longestMs, firstMs * factor ** (failures - 1))
}
