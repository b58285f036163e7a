/** A child as the leader of a process group, and everything that it started, on systems with process groups. */
import type { Clock } from '../../ports/clock.ts'
import type { ProcessTree } from './child.ts'
import { killDeserters } from './leftovers.ts'
import { processTable } from './system-table.ts'

interface GroupOptions {
  readonly clock: Clock
  /** The marker in the environment of the child and of its descendants. */
  readonly marker: string
}

export function processGroup(group: number, { clock, marker }: GroupOptions): ProcessTree {
  return {
    terminate: () => void signalGroup(group, 'SIGTERM'),
    kill: () => void signalGroup(group, 'SIGKILL'),
    childExited: () => void signalGroup(group, 'SIGKILL'),
    async gone(limitMs) {
      await groupGone(group, clock, limitMs)
      await killDeserters(marker)
    },
    async usage() {
      const rows = await (await processTable()).rows()
      const members = rows?.filter((row) => row.group === group)
      return members && { residentBytes: sum(members, 'residentBytes'), cpuMs: sum(members, 'cpuMs') }
    },
  }
}

function sum<Name extends string>(rows: readonly Readonly<Record<Name, number>>[], name: Name): number {
  return rows.reduce((total, row) => total + row[name], 0)
}

/** False when the group has no members left. */
function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-group, signal)
    return true
  } catch (error) {
    // EPERM: a member changed its user. It exists, and we cannot end it.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Resolves when no process of the group runs, or after `limitMs`. */
async function groupGone(group: number, clock: Clock, limitMs: number): Promise<void> {
  const end = clock.monotonicNow() + limitMs
  for (let pause = 2; ; pause = Math.min(pause * 2, 50)) {
    if (!signalGroup(group, 0) || !(await hasRunningMember(group))) return
    if (clock.monotonicNow() >= end) return
    await clock.sleep(pause)
  }
}

/**
 * A signal also reaches zombies until their parent has waited for them, which in a container without an init is never; so the state of
 * each process is read too.
 */
async function hasRunningMember(group: number): Promise<boolean> {
  const rows = await (await processTable()).rows()
  // Where the system does not tell, only the result of the signal is known.
  return rows === undefined || rows.some((row) => row.group === group && row.isRunning)
}
