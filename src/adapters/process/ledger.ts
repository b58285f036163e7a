/** Finds processes by the marker in their environment: what a dead owner left behind although its guard ended the rest. */
import { readdir, readFile } from 'node:fs/promises'
import { MARKER, markerOf, type Boot } from './environment.ts'

/**
 * Kills the children of earlier owners of the same state directory, and what they start meanwhile; call it once, when the state is ours.
 * Resolves with how many there were. Does nothing where there is no /proc.
 */
export function killLeftovers(boot: Boot): Promise<number> {
  return killAll((marker) => marker.startsWith(`${boot.home}-`) && !marker.startsWith(markerOf(boot)))
}

/** Kills what came of one child and left its group; its group is gone already. */
export async function killDeserters(marker: string): Promise<void> {
  await killAll((found) => found === marker)
}

/** As many as it takes to catch up with what forks while it is looked for. */
const ROUNDS = 5

/** Resolves with how many there were. */
async function killAll(wanted: (marker: string) => boolean): Promise<number> {
  const killed = new Set<number>()
  for (let round = 1; round <= ROUNDS; round += 1) {
    const left = await markedProcesses(wanted)
    // One that was killed is seen until its parent has buried it, but then its environment is empty.
    if (left.length === 0) break
    for (const { pid } of left) if (kill(pid)) killed.add(pid)
  }
  return killed.size
}

/** There may be more processes than we have descriptors, and clients that connect meanwhile need some too. */
const AT_ONCE = 16

interface MarkedProcess {
  readonly pid: number
  readonly marker: string
}

/** The processes, other than ourselves, whose marker pleases `wanted`. */
async function markedProcesses(wanted: (marker: string) => boolean): Promise<readonly MarkedProcess[]> {
  // No /proc, no ledger: the guard alone has to do.
  const names = await readdir('/proc').catch(() => [])
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number)
  const markers: (string | undefined)[] = []
  for (let at = 0; at < pids.length; at += AT_ONCE) {
    markers.push(...(await Promise.all(pids.slice(at, at + AT_ONCE).map(markerOfProcess))))
  }
  // A server that was started from inside a session carries that session's marker and must not end itself.
  const found = pids.map((pid, index) => ({ pid, marker: markers[index] ?? '' }))
  return found.filter(({ pid, marker }) => pid !== process.pid && wanted(marker))
}

async function markerOfProcess(pid: number): Promise<string | undefined> {
  // Processes of other users and those that just ended cannot be read; neither is ours.
  const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')
  const entry = environment.split('\0').find((variable) => variable.startsWith(`${MARKER}=`))
  return entry?.slice(MARKER.length + 1)
}

function kill(pid: number): boolean {
  try {
    process.kill(pid, 'SIGKILL')
    return true
  } catch {
    // It ended between the look and the signal, which is what we wanted.
    return false
  }
}

export interface Orphan {
  readonly pid: number
  /** What is said to be running there. */
  readonly command: string
}

/** `home` is the short hash in the markers, `owner` the process that owns the state now, if one does. */
export async function findOrphans(home: string, owner: number | undefined): Promise<readonly Orphan[]> {
  const marked = await markedProcesses((marker) => marker.startsWith(`${home}-`))
  const found = await Promise.all(marked.map(described))
  // The owner's own children tell which marker is its own.
  const alive = new Set(found.filter(({ parent }) => parent === owner).map(({ marker }) => bootOf(marker)))
  return found
    .filter(({ pid, marker }) => pid !== owner && !alive.has(bootOf(marker)))
    .map(({ pid, command }) => ({ pid, command }))
}

/** Behind the hash and the boot's own id comes what tells the children of one owner apart. */
function bootOf(marker: string): string {
  return marker.split('-').slice(0, 6).join('-')
}

async function described({ pid, marker }: MarkedProcess) {
  // It may end while it is looked at.
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '')
  const [, command = '', parent = '0'] = /^\d+ \((.*)\) . (\d+)/su.exec(stat) ?? []
  return { pid, marker, parent: Number(parent), command }
}
