/** Runs the server under strace, and checks afterwards that nothing was told before the disk had it. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { checkTrace, emptyDisk } from './check-trace.ts'
import type { Finding } from './evidence.ts'
import type { Tracing } from './run.ts'
import { parseTrace } from './trace.ts'

/** One per chunk of the story. */
export const WORDS = /[bs]\d+-\d+ (?:of the tale|slowly);/g

const CALLS = 'trace=write,writev,pwrite64,pwritev,pwritev2,sendto,sendmsg,fdatasync,fsync'

export interface TraceTotals {
  covered: number
  syncs: number
}

/** Or a sentence about what is missing. */
export function openTracing(): (Tracing & { readonly totals: TraceTotals }) | string {
  const { status } = spawnSync('strace', ['-V'])
  if (status !== 0) return 'strace is not there; get it with `apt-get install strace`.'
  const totals: TraceTotals = { covered: 0, syncs: 0 }
  return {
    totals,
    // -D: the server stays our child, and the tracer becomes its grandchild; -y: descriptors with their paths.
    under: (directory, life) => [
      'strace',
      '-D',
      '-f',
      '-y',
      '--seccomp-bpf',
      '-s',
      '1000000',
      '-e',
      CALLS,
      '-o',
      tracePath(directory, life),
    ],
    check: (directory) => checkTraces(directory, totals),
  }
}

function tracePath(directory: string, life: number): string {
  return join(directory, `trace-${life}.txt`)
}

async function checkTraces(directory: string, totals: TraceTotals): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  const disk = emptyDisk()
  for (let life = 1; existsSync(tracePath(directory, life)); life += 1) {
    const calls = parseTrace(await wholeTrace(tracePath(directory, life)))
    const checked = checkTrace(calls, WORDS, disk)
    findings.push(...checked.findings.map(({ kind, what }) => ({ kind, what: `life ${life}, ${what}` })))
    totals.covered += checked.covered
    totals.syncs += checked.syncs
  }
  return findings
}

/** The tracer writes the end of the process down after the process has ended. */
async function wholeTrace(path: string): Promise<string> {
  for (let tries = 0; tries < 200; tries += 1) {
    const text = readFileSync(path, 'latin1')
    const main = /^\d+/.exec(text)?.[0]
    if (main !== undefined && new RegExp(`^${main} +\\+\\+\\+ `, 'm').test(text)) return text
    await sleep(25)
  }
  throw new Error(`the trace ${path} has no end`)
}
