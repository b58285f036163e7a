/** Looks now and then whether anybody still needs a server that nobody started by hand, and can still find it. */
import type { Clock } from '../../ports/clock.ts'

export interface IdleShutdownHost {
  readonly clock: Clock
  /** 0 is never. */
  readonly idleMinutes: number
  /** When a client was last there, on the clock of what has elapsed. */
  lastSeen(): number
  isWorking(): boolean
  isReachable(): boolean
}

/** Milliseconds between two looks. */
const SELDOM = 15_000

/** Calls `end` once, with the reason. It never keeps the process alive. */
export function shutDownWhenIdle(watched: IdleShutdownHost, end: (why: string) => void): void {
  const { clock, idleMinutes } = watched
  const idle = idleMinutes * 60_000
  const pause = idle === 0 ? SELDOM : Math.min(SELDOM, idle / 4)
  let lastWorked = clock.monotonicNow()

  function look(): void {
    if (!watched.isReachable()) return end('its socket is gone')
    if (watched.isWorking()) lastWorked = clock.monotonicNow()
    const unused = clock.monotonicNow() - Math.max(lastWorked, watched.lastSeen())
    if (idle > 0 && unused >= idle) return end(`nobody has used it for ${idleMinutes} minutes`)
    clock.setTimer(pause, look)
  }
  clock.setTimer(pause, look)
}
