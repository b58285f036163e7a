/** The processes of Linux, from /proc. */
import { readFileSync, statSync } from 'node:fs'
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
    return ((await processIds()) ?? []).flatMap((pid) => {
      const entry = environmentOf(pid).find((variable) => variable.startsWith(`${MARKER}=`))
      return entry === undefined ? [] : [{ pid, marker: entry.slice(MARKER.length + 1) }]
    })
  },
}

/**
 * Empty for processes of other users and those that just ended: they cannot be read, and neither is a child of ours. A start waits
 * for it: one after the other the files take a tenth of the time that they take through Node's threads.
 */
function environmentOf(pid: number): readonly string[] {
  const directory = `/proc/${pid}`
  const owner = statSync(directory, { throwIfNoEntry: false })?.uid
  const user = process.getuid?.()
  // An error for each process of another user would take longer than all the others together.
  if (user !== 0 && owner !== user) return []
  try {
    return readFileSync(`${directory}/environ`, 'utf8').split('\0')
  } catch {
    return []
  }
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
