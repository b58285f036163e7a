/** `npm run bench`: the figures of DESIGN section 7, each with its goal and its floor, measured in one run. Never a timed test. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { setup as build } from '../test/build.setup.ts'
import type { Measurement, Row } from './row.ts'
import { compare } from './compare.ts'
import { agents } from './rows/stream/agents.ts'
import { cancel } from './rows/stream/cancel.ts'
import { capacity } from './rows/stream/capacity.ts'
import { cold } from './rows/start/cold.ts'
import { delay } from './rows/stream/delay.ts'
import { disk } from './rows/store/disk.ts'
import { journal } from './rows/store/journal.ts'
import { list } from './rows/start/list.ts'
import { load } from './rows/start/load.ts'
import { memory } from './rows/store/memory.ts'
import { model } from './rows/stream/model.ts'
import { newSession } from './rows/start/new-session.ts'
import { pace } from './rows/stream/pace.ts'
import { remote } from './rows/stream/remote.ts'
import { restart } from './rows/start/restart.ts'
import { scale } from './rows/store/scale.ts'
import { search } from './rows/store/search.ts'
import { start } from './rows/start/start.ts'
import { throughput } from './rows/stream/throughput.ts'
import { web } from './rows/page/web.ts'
import { watchers } from './rows/stream/watchers.ts'

const measurements: Readonly<Record<string, Measurement>> = {
  start,
  cold,
  'new-session': newSession,
  throughput,
  watchers,
  remote,
  model,
  agents,
  pace,
  cancel,
  delay,
  load,
  memory,
  list,
  restart,
  search,
  disk,
  journal,
}

const USAGE = `npm run bench -- [--quick] [--json] [--only NAME,…]
  --quick  fewer repeats and smaller sizes
  --json   one JSON object per row
  --scale  only how costs grow with the size of sessions and their number, and search over a million entries; minutes, and gigabytes
  --capacity  only how many sessions stream at the pace of a real model until tokens come late; minutes
  --web    only the page in a headless browser: how soon it shows what, and what it costs; minutes
  --only   of ${Object.keys(measurements).join(', ')}
  --compare  A.json B.json: the rows of two runs side by side, and nothing is measured
The rows are also written to bench/results.json, and what is being measured to stderr, with the seconds that it took. It never fails because something is slow.`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    compare: { type: 'boolean', default: false },
    capacity: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    scale: { type: 'boolean', default: false },
    web: { type: 'boolean', default: false },
    only: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

async function main(): Promise<void> {
  if (values.help) return console.log(USAGE)
  if (values.compare) return compare(positionals)
  await build()
  const rows: Row[] = []
  const directory = await mkdtemp(join(tmpdir(), 'parley-bench-'))
  try {
    if (!values.json) print({ what: 'what', measured: 'measured', goal: 'goal', floor: 'floor', ok: '' })
    for (const name of chosen()) {
      const began = performance.now()
      console.error(`${name} …`)
      for (const row of (await measurementOf(name)?.({ quick: values.quick, directory })) ?? []) {
        rows.push(row)
        tell(row)
      }
      // Also what a run that is stopped has measured.
      await writeFile(new URL('results.json', import.meta.url), `${JSON.stringify(rows, null, 2)}\n`)
      console.error(`${name}: ${((performance.now() - began) / 1_000).toFixed(0)} s`)
    }
  } finally {
    await rm(directory, { recursive: true, force: true, maxRetries: 3 })
  }
}

function chosen(): readonly string[] {
  if (values.scale) return ['scale', 'search']
  if (values.capacity) return ['capacity']
  if (values.web) return ['web']
  return values.only?.split(',') ?? Object.keys(measurements)
}

/** How costs grow, what it takes until tokens come late, and the page, are measured alone. */
function measurementOf(name: string): Measurement | undefined {
  return { scale, capacity, web }[name] ?? measurements[name]
}

function tell(row: Row): void {
  if (values.json) console.log(JSON.stringify(row))
  else print({ ...row, ok: row.goal === '–' ? '' : row.ok ? 'ok' : 'not yet' })
}

function print({ what, measured, goal, floor, ok }: Omit<Row, 'ok'> & { readonly ok: string }): void {
  console.log(`${what.padEnd(50)} | ${measured.padEnd(20)} | ${goal.padEnd(32)} | ${floor.padEnd(42)} | ${ok}`)
}

await main()
