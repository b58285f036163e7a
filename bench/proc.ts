/** What the kernel says of a process. */
import { readFileSync } from 'node:fs'

/** Clock ticks a second, as Linux has them. */
const TICKS = 100

export function residentBytes(pid: number | undefined): number {
  const [, kib = '0'] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kib) * 1024
}

/** Processor time of all its threads so far, in milliseconds. */
export function processorMs(pid: number | undefined): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name of the program may hold spaces; it ends at the last parenthesis.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [user = '0', system = '0'] = fields.slice(11, 13)
  return ((Number(user) + Number(system)) * 1000) / TICKS
}
