/** What the kernel says of a process. */
import { readFileSync, readdirSync } from 'node:fs'

/** Clock ticks a second, as Linux has them. */
const TICKS = 100

export function residentBytes(pid: number | undefined): number {
  const [, kib = '0'] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kib) * 1024
}

/** Processor time of all its threads so far, in milliseconds: exact, unless a thread has ended, whose time is known in clock ticks. */
export function processorMs(pid: number | undefined): number {
  return Math.max(ticksMs(pid), sum(threadsOf(pid).map((thread) => runMs(`/proc/${pid}/task/${thread}/schedstat`))))
}

function ticksMs(pid: number | undefined): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name of the program may hold spaces; it ends at the last parenthesis.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [user = '0', system = '0'] = fields.slice(11, 13)
  return ((Number(user) + Number(system)) * 1000) / TICKS
}

function threadsOf(pid: number | undefined): readonly string[] {
  return readdirSync(`/proc/${pid}/task`)
}

/** The first number is the time on a processor, in nanoseconds. */
function runMs(schedstat: string): number {
  try {
    return Number(readFileSync(schedstat, 'utf8').split(' ', 1)[0]) / 1_000_000
  } catch {
    // The thread has just ended.
    return 0
  }
}

/** Processor time of a process and of all that it has started, in milliseconds. */
export function treeProcessorMs(pid: number | undefined): number {
  return sum(treeOf(pid).map(processorMs))
}

/** Resident memory of a process and of all that it has started, in bytes. */
export function treeBytes(pid: number | undefined): number {
  return sum(treeOf(pid).map(residentBytes))
}

function treeOf(pid: number | undefined): readonly number[] {
  if (pid === undefined) throw new Error('it was never started')
  const children = threadsOf(pid).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  )
  return [pid, ...children.flatMap(treeOf)]
}

function sum(values: readonly number[]): number {
  return values.reduce((one, other) => one + other, 0)
}
