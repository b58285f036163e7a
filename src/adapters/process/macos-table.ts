/**
 * The processes of macOS, from ps(1): there is no /proc. System Integrity Protection hides the environment of Apple's own
 * programs, such as /bin/sh, so that of those only the process group is known.
 */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { MARKER } from './environment.ts'
import type { MarkedProcess, ProcessRow, ProcessTable } from './process-table.ts'

const PS_ARGUMENTS = ['-axo', 'pid=,ppid=,pgid=,state=,time=,rss=,comm=']
/** `-E` adds the environment to the command, and `-ww` cuts neither. */
const ENVIRONMENTS = ['-axEww', '-o', 'pid=,command=']
const MAX_BYTES = 64 * 1024 * 1024

/** Runs ps(1) and gives its output; rejects when it fails. */
export type RunPs = (args: readonly string[]) => Promise<string>

export function macosTable(run: RunPs = runPs): ProcessTable {
  return {
    rows: () =>
      run(PS_ARGUMENTS).then(
        (text) => linesOf(text).flatMap((line) => parseRow(line) ?? []),
        () => undefined,
      ),
    marked: () =>
      run(ENVIRONMENTS).then(
        (text) => linesOf(text).flatMap((line) => parseMarked(line) ?? []),
        () => [],
      ),
  }
}

async function runPs(args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('/bin/ps', args, { maxBuffer: MAX_BYTES, env: { LC_ALL: 'C' } })
  return stdout
}

function linesOf(text: string): readonly string[] {
  return text.split('\n').filter((line) => line.trim() !== '')
}

function parseRow(line: string): ProcessRow | undefined {
  const [, pid, parent, group, state = '', time = '', kibibytes, command = ''] =
    /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+)\s+(\d+)\s+(.*)$/u.exec(line) ?? []
  if (pid === undefined) return undefined
  return {
    pid: Number(pid),
    parent: Number(parent),
    group: Number(group),
    isRunning: !state.startsWith('Z'),
    cpuMs: millisecondsOf(time),
    residentBytes: Number(kibibytes) * 1024,
    command,
  }
}

/** `[[DAYS-]HOURS:]MINUTES:SECONDS[.HUNDREDTHS]`; macOS lets the minutes grow. */
function millisecondsOf(time: string): number {
  const [clock = '', days = '0'] = time.split('-').reverse()
  const seconds = clock.split(':').reduce((sum, part) => sum * 60 + Number(part), 0)
  return Math.round((Number(days) * 86_400 + seconds) * 1000)
}

/** The environment follows the arguments, so the last mention counts. */
function parseMarked(line: string): MarkedProcess | undefined {
  const [, pid] = /^\s*(\d+)\s/u.exec(line) ?? []
  const marker = [...line.matchAll(new RegExp(`\\s${MARKER}=(\\S+)`, 'gu'))].at(-1)?.[1]
  return pid === undefined || marker === undefined ? undefined : { pid: Number(pid), marker }
}
