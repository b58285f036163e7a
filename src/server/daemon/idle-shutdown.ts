/** Stops a background server when it has been unused for a while, or its socket was removed. */
import type { Clock } from '../../ports/clock.ts'

export interface IdleWatch {
  readonly clock: Clock
  /** 0 is never. */
  readonly idleMinutes: number
  /** When a client was last connected, on the monotonic clock. */
  lastSeen(): number
  isWorking(): boolean
  isReachable(): boolean
}

/** Milliseconds between two checks. */
const SELDOM = 15_000

/** Calls `end` once, with the reason. It never keeps the process alive. */
export function shutDownWhenIdle(watched: IdleWatch, end: (why: string) => void): void {
  const { clock, idleMinutes } = watched
  const idle = idleMinutes * 60_000
  const pause = idle === 0 ? SELDOM : Math.min(SELDOM, idle / 4)
  let lastWorked = clock.monotonicNow()

  function look(): void {
    if (!watched.isReachable()) return end('its socket was removed')
    if (watched.isWorking()) lastWorked = clock.monotonicNow()
    const unused = clock.monotonicNow() - Math.max(lastWorked, watched.lastSeen())
    if (idle > 0 && unused >= idle) return end(`it was not used for ${idleMinutes} minutes`)
    clock.setTimer(pause, look)
  }
  clock.setTimer(pause, look)
}
