/** Finds processes by the marker in their environment: those that a dead server left behind and that its guard missed. */
import { readdir, readFile } from 'node:fs/promises'
import { MARKER, markerOf, type Boot } from './environment.ts'

/**
 * Kills the children of earlier owners of the same state directory, and processes that they start meanwhile. Call it once, when this
 * process owns the state. Resolves with their number. Does nothing without /proc.
 */
export function killLeftovers(boot: Boot): Promise<number> {
  return killAll((marker) => marker.startsWith(`${boot.home}-`) && !marker.startsWith(markerOf(boot)))
}

/** Kills descendants of one child that left its group; the group itself is gone already. */
export async function killDeserters(marker: string): Promise<void> {
  await killAll((found) => found === marker)
}

/** Several rounds, to catch processes that fork meanwhile. */
const MAX_ROUNDS = 5

/** Resolves with their number. */
async function killAll(wanted: (marker: string) => boolean): Promise<number> {
  const killed = new Set<number>()
  for (let round = 1; round <= MAX_ROUNDS; round += 1) {
    const left = await markedProcesses(wanted)
    // A killed process is listed until its parent has waited for it, but its environment is empty then.
    if (left.length === 0) break
    for (const { pid } of left) if (kill(pid)) killed.add(pid)
  }
  return killed.size
}

/** Files read at once: there may be more processes than descriptors, and clients need some too. */
const MAX_OPEN_FILES = 16

interface MarkedProcess {
  readonly pid: number
  readonly marker: string
}

/** The processes, except this one, whose marker satisfies `wanted`. */
async function markedProcesses(wanted: (marker: string) => boolean): Promise<readonly MarkedProcess[]> {
  // Without /proc nothing is found; only the guard protects then.
  const names = await readdir('/proc').catch(() => [])
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number)
  const markers: (string | undefined)[] = []
  for (let at = 0; at < pids.length; at += MAX_OPEN_FILES) {
    markers.push(...(await Promise.all(pids.slice(at, at + MAX_OPEN_FILES).map(markerOfProcess))))
  }
  // A server that was started by a command of a session has that session's marker; it must not kill itself.
  const found = pids.map((pid, index) => ({ pid, marker: markers[index] ?? '' }))
  return found.filter(({ pid, marker }) => pid !== process.pid && wanted(marker))
}

async function markerOfProcess(pid: number): Promise<string | undefined> {
  // Processes of other users and those that just ended cannot be read; neither is a child of ours.
  const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')
  const entry = environment.split('\0').find((variable) => variable.startsWith(`${MARKER}=`))
  return entry?.slice(MARKER.length + 1)
}

function kill(pid: number): boolean {
  try {
    process.kill(pid, 'SIGKILL')
    return true
  } catch {
    // It ended before the signal.
    return false
  }
}

export interface Orphan {
  readonly pid: number
  /** The command line of the process. */
  readonly command: string
}

/** `home` is the short hash in the markers, `owner` the process that owns the state now, if there is one. */
export async function findOrphans(home: string, owner: number | undefined): Promise<readonly Orphan[]> {
  const marked = await markedProcesses((marker) => marker.startsWith(`${home}-`))
  const found = await Promise.all(marked.map(described))
  // The marker of the owner is the one that its own children have.
  const alive = new Set(found.filter(({ parent }) => parent === owner).map(({ marker }) => bootOf(marker)))
  return found
    .filter(({ pid, marker }) => pid !== owner && !alive.has(bootOf(marker)))
    .map(({ pid, command }) => ({ pid, command }))
}

/** A marker is the hash, the id of the start, and the id of the child; the first two identify the owner. */
function bootOf(marker: string): string {
  return marker.split('-').slice(0, 6).join('-')
}

async function described({ pid, marker }: MarkedProcess) {
  // The process may end meanwhile.
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '')
  const [, command = '', parent = '0'] = /^\d+ \((.*)\) . (\d+)/su.exec(stat) ?? []
  return { pid, marker, parent: Number(parent), command }
}
