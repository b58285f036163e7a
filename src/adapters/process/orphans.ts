/** Finds the children that former owners of a state directory left behind, without touching them. */
import { readFile } from 'node:fs/promises'
import { type MarkedProcess, markedProcesses } from './ledger.ts'

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
