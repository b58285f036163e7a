/**
 * The pause before the next attempt to reach a remote server. It ends early when the network of this machine changes,
 * or when the machine wakes up.
 */
import { networkInterfaces } from 'node:os'
import { now, pause } from '../output/terminal/pace.ts'

/** Node has no event for a change of the network. */
const POLL_MS = 500
/** The clock on the wall went on this much further than the pause took: the machine was asleep. */
const ASLEEP_MS = 5_000

export interface MachineFacts {
  /** All addresses of this machine that others can reach, in a form that can be compared. */
  addresses(): string
  /** Milliseconds of the clock on the wall. */
  now(): number
  pause(ms: number): Promise<void>
}

const thisMachine: MachineFacts = { addresses, now, pause }

/** The network of this machine, to be compared with that of a later time. */
export function networkNow(): string {
  return thisMachine.addresses()
}

/**
 * Resolves after `ms`, or half a second after the network is another one than `before`, which was read before the attempt that
 * failed, or after the machine has woken up.
 */
export async function networkPause(ms: number, before: string, machine: MachineFacts = thisMachine): Promise<void> {
  for (let left = ms; left > 0; left -= POLL_MS) {
    const began = machine.now()
    await machine.pause(Math.min(left, POLL_MS))
    if (machine.addresses() !== before || machine.now() - began > POLL_MS + ASLEEP_MS) return
  }
}

function addresses(): string {
  const all = Object.values(networkInterfaces()).flatMap((ones) => ones ?? [])
  return all
    .filter(({ internal }) => !internal)
    .map(({ cidr, address }) => cidr ?? address)
    .toSorted()
    .join(' ')
}
