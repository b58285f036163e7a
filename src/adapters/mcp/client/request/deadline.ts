/** How long one request may take: so long without a sign of life, so long in all, and no longer for a person's thinking. */
import type { Clock, Timer } from '../../../../ports/clock.ts'

export interface DeadlineOptions {
  readonly clock: Clock
  /** Without an answer or progress. */
  readonly quietMs: number
  /** Whatever progress there is. */
  readonly totalMs: number
  /** Called once, with the limit that was passed. */
  readonly onOver: (ms: number) => void
}

export interface Deadline {
  /** A sign of life. */
  touch(): void
  /** Somebody is asked; the time until the returned function is called does not count. */
  hold(): () => void
  cancel(): void
}

export function startDeadline({ clock, quietMs, totalMs, onOver }: DeadlineOptions): Deadline {
  let left = totalMs
  let since = clock.monotonicNow()
  let held = 0
  let over = false
  let timer: Timer | undefined

  function spend(): void {
    if (held === 0) left -= clock.monotonicNow() - since
    since = clock.monotonicNow()
  }

  function arm(): void {
    timer?.cancel()
    if (held > 0 || over) return
    const [ms, limit] = left < quietMs ? [left, totalMs] : [quietMs, quietMs]
    timer = clock.setTimer(Math.max(ms, 0), () => {
      over = true
      onOver(limit)
    })
  }

  arm()
  return {
    touch() {
      spend()
      arm()
    },
    hold() {
      spend()
      held += 1
      arm()
      let done = false
      return () => {
        if (done) return
        done = true
        spend()
        held -= 1
        arm()
      }
    },
    cancel() {
      over = true
      timer?.cancel()
    },
  }
}
