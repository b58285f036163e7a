/** Finds processes by the marker in their environment: those that a dead server left behind and that its guard missed. */
import { markerOf, type Boot } from './environment.ts'
import type { MarkedProcess } from './process-table.ts'
import { processTable } from './system-table.ts'

/**
 * Kills the children of earlier owners of the same state directory, and processes that they start meanwhile. Call it once, when this
 * process owns the state. Resolves with their number. Does nothing where the system does not tell environments.
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

/** The processes, except this one, whose marker satisfies `wanted`. */
async function markedProcesses(wanted: (marker: string) => boolean): Promise<readonly MarkedProcess[]> {
  const marked = await (await processTable()).marked()
  // A server that was started by a command of a session has that session's marker; it must not kill itself.
  return marked.filter(({ pid, marker }) => pid !== process.pid && wanted(marker))
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
  /** The name of its program. */
  readonly command: string
}

/** `home` is the short hash in the markers, `owner` the process that owns the state now, if there is one. */
export async function findOrphans(home: string, owner: number | undefined): Promise<readonly Orphan[]> {
  const marked = await markedProcesses((marker) => marker.startsWith(`${home}-`))
  if (marked.length === 0) return []
  const rows = new Map((await (await processTable()).rows())?.map((row) => [row.pid, row]))
  const found = marked.map(({ pid, marker }) => ({ pid, marker, row: rows.get(pid) }))
  // The marker of the owner is the one that its own children have.
  const alive = new Set(found.filter(({ row }) => row?.parent === owner).map(({ marker }) => bootOf(marker)))
  return found
    .filter(({ pid, marker }) => pid !== owner && !alive.has(bootOf(marker)))
    .map(({ pid, row }) => ({ pid, command: row?.command ?? '' }))
}

/** A marker is the hash, the id of the start, and the id of the child; the first two identify the owner. */
function bootOf(marker: string): string {
  return marker.split('-').slice(0, 6).join('-')
}
