/** The processes of Linux, from /proc. */
import { readdir, readFile } from 'node:fs/promises'
import { MARKER } from './environment.ts'
import type { ProcessRow, ProcessTable } from './process-table.ts'

/** Pages and clock ticks as Linux counts them nearly everywhere. */
const PAGE_BYTES = 4096
const TICK_MS = 10
/** Files read at once: there may be more processes than descriptors, and clients need some too. */
const MAX_OPEN_FILES = 16

export const linuxTable: ProcessTable = {
  async rows() {
    const pids = await processIds()
    return pids && (await readEach(pids, rowOf))
  },
  async marked() {
    return await readEach((await processIds()) ?? [], async (pid) => {
      // Processes of other users and those that just ended cannot be read; neither is a child of ours.
      const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')
      const entry = environment.split('\0').find((variable) => variable.startsWith(`${MARKER}=`))
      return entry && { pid, marker: entry.slice(MARKER.length + 1) }
    })
  },
}

async function processIds(): Promise<readonly number[] | undefined> {
  const names = await readdir('/proc').catch(() => undefined)
  return names?.filter((name) => /^\d+$/u.test(name)).map(Number)
}

async function readEach<Row>(
  pids: readonly number[],
  read: (pid: number) => Promise<Row | '' | undefined>,
): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (let at = 0; at < pids.length; at += MAX_OPEN_FILES) {
    const some = await Promise.all(pids.slice(at, at + MAX_OPEN_FILES).map(read))
    for (const row of some) if (row) rows.push(row)
  }
  return rows
}

/** Undefined when the process has ended meanwhile. */
async function rowOf(pid: number): Promise<ProcessRow | undefined> {
  return parseStat(await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => ''))
}

/** The second field is the program's name in parentheses, with any characters. */
export function parseStat(text: string): ProcessRow | undefined {
  const [, pid, command = '', rest = ''] = /^(\d+) \((.*)\) (.*)/su.exec(text) ?? []
  if (pid === undefined) return undefined
  const fields = rest.split(' ')
  return {
    pid: Number(pid),
    command,
    isRunning: fields[0] !== 'Z' && fields[0] !== 'X',
    parent: Number(fields[1]),
    group: Number(fields[2]),
    cpuMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS,
    residentBytes: Number(fields[21]) * PAGE_BYTES,
  }
}
