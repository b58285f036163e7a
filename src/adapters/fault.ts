/** Plays a list of faults: ends the process, throws or waits when the named point is reached the n-th time. */
import { existsSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { systemClock } from './clock.ts'
import type { Faults, FaultSpec, FaultsSpec } from '../ports/fault.ts'

/** What production runs with. */
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
      // Each that is meant by this point counts it.
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

/** Nothing else happens in this thread meanwhile. */
function hang(fault: FaultSpec): void {
  const until = fault.ms === undefined ? Number.POSITIVE_INFINITY : systemClock.monotonicNow() + fault.ms
  while (systemClock.monotonicNow() < until && isOn(fault));
}
