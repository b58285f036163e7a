/** Injects faults for tests: ends the process, throws or waits when a named point is reached for the n-th time. */
import { existsSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { systemClock } from './clock.ts'
import type { Faults, FaultSpec, FaultsSpec } from '../ports/fault.ts'

/** Used in production. */
export const noFaults: Faults = { at: () => {} }

export function faultsFrom(spec: FaultsSpec): Faults {
  if (spec.length === 0) return noFaults
  const reached = new Map<FaultSpec, number>()
  const reach = (fault: FaultSpec): boolean => {
    const nth = (reached.get(fault) ?? 0) + 1
    reached.set(fault, nth)
    return nth === fault.nth
  }
  return {
    at(point) {
      let due: FaultSpec | undefined
      // Every fault of this point counts the visit.
      for (const fault of spec) if (fault.point === point && isOn(fault) && reach(fault)) due ??= fault
      return due === undefined ? undefined : play(due)
    },
  }
}

function isOn({ during }: FaultSpec): boolean {
  return during === undefined || existsSync(during)
}

function play(fault: FaultSpec): void | Promise<void> {
  const { point, action, nth, ms = 0 } = fault
  switch (action) {
    case 'kill':
      process.kill(process.pid, 'SIGKILL')
      return undefined
    case 'throw':
      throw new Error(`the fault at ${point} (${nth})`)
    case 'delay':
      return delay(ms)
    case 'hang':
      return hang(fault)
  }
}

/** Blocks the thread. */
function hang(fault: FaultSpec): void {
  const until = fault.ms === undefined ? Number.POSITIVE_INFINITY : systemClock.monotonicNow() + fault.ms
  while (systemClock.monotonicNow() < until && isOn(fault));
}
