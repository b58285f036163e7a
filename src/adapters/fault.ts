/** Plays a list of faults: ends the process, throws or waits when the named point is reached the n-th time. */
import { setTimeout as delay } from 'node:timers/promises'
import type { FaultPoint, Faults, FaultSpec, FaultsSpec } from '../ports/fault.ts'

/** What production runs with. */
export const noFaults: Faults = { at: () => {} }

export function faultsFrom(spec: FaultsSpec): Faults {
  if (spec.length === 0) return noFaults
  const reached = new Map<FaultPoint, number>()
  return {
    at(point) {
      const nth = (reached.get(point) ?? 0) + 1
      reached.set(point, nth)
      const fault = spec.find((one) => one.point === point && one.nth === nth)
      return fault === undefined ? undefined : play(fault)
    },
  }
}

function play({ point, action, nth, ms = 0 }: FaultSpec): void | Promise<void> {
  switch (action) {
    case 'kill':
      process.kill(process.pid, 'SIGKILL')
      return undefined
    case 'throw':
      throw new Error(`the fault at ${point} (${nth})`)
    case 'delay':
      return delay(ms)
  }
}
