/** What the kernel says of a process. */
import { readFileSync, readdirSync } from 'node:fs'

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
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  )
  return [pid, ...children.flatMap(treeOf)]
}

function sum(values: readonly number[]): number {
  return values.reduce((one, other) => one + other, 0)
}
