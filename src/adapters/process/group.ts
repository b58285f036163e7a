/** Process groups: signalling one, and knowing when nobody in it runs any more. */
import { readdir, readFile } from 'node:fs/promises'
import type { Clock } from '../../ports/clock.ts'

/** False when the group has no members left. */
export function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-group, signal)
    return true
  } catch (error) {
    // EPERM means that a member changed its user: it is there, and not ours to end.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Resolves when nobody in the group runs, or after `limitMs` with false. */
export async function groupGone(group: number, clock: Clock, limitMs: number): Promise<boolean> {
  const end = clock.monotonicNow() + limitMs
  for (let pause = 2; ; pause = Math.min(pause * 2, 50)) {
    if (!signalGroup(group, 0) || !(await hasRunningMember(group))) return true
    if (clock.monotonicNow() >= end) return false
    await clock.sleep(pause)
  }
}

/**
 * The kernel answers a signal for the dead too until their parent has buried them,
 * which in a container without an init is never; so we look at their state.
 */
async function hasRunningMember(group: number): Promise<boolean> {
  const pids = await readdir('/proc').catch(() => undefined)
  // Without /proc the kernel's answer to the signal is all there is to know.
  if (pids === undefined) return true
  for (const pid of pids) {
    if (/^\d+$/.test(pid) && (await runsIn(pid, group))) return true
  }
  return false
}

async function runsIn(pid: string, group: number): Promise<boolean> {
  // A process that vanishes while we look does not run.
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // The second field is the program's name in brackets and may hold anything; state, parent and group follow it.
  const [state, , processGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return Number(processGroup) === group && state !== 'Z' && state !== 'X'
}
