/** `npm run bench -- stall`: feeds the real server every kind of input from outside, and prints the longest wait of another client for each. */
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { setup } from '../build.setup.ts'
import { StallBench } from './bench.ts'
import { type StallInput, inputs } from './inputs.ts'

/** What we aim at, and what is surely a fault, also on a machine that does other things. Milliseconds. */
const GOAL_MS = 100
const BOUND_MS = 2_000
/** An input that is not answered by then counts as never. */
const PATIENCE_MS = 60_000

interface Row {
  readonly name: string
  readonly waitMs: number
  readonly end: string
}

const { values } = parseArgs({ options: { only: { type: 'string' } } })
await setup()
const rows: Row[] = []
{
  await using bench = new StallBench()
  await bench.open()
  for (const input of inputs.filter(({ name }) => name.includes(values.only ?? ''))) {
    const row = await measure(bench, input)
    rows.push(row)
    console.log(`${row.waitMs.toFixed(0).padStart(7)} ms  ${row.name}${row.end}`)
  }
}
const worst = rows.toSorted((one, other) => other.waitMs - one.waitMs)
const late = worst.filter(({ waitMs }) => waitMs > GOAL_MS)
console.log(`\n${rows.length} inputs; ${late.length} kept another client waiting for more than ${GOAL_MS} ms:`)
for (const { name, waitMs } of late) console.log(`${waitMs.toFixed(0).padStart(7)} ms  ${name}`)
process.exit(worst.some(({ waitMs, end }) => waitMs > BOUND_MS || end !== '') ? 1 : 0)

async function measure(bench: StallBench, { name, run }: StallInput): Promise<Row> {
  await bench.longestWait()
  const over = new AbortController()
  const ended = run(bench).then(
    () => '',
    (error: unknown) => `  (${String(error).slice(0, 100)})`,
  )
  const end = await Promise.race([ended, sleep(PATIENCE_MS, '  (no answer)', { signal: over.signal, ref: false })])
  over.abort()
  // What was answered may still be worked on.
  await sleep(300)
  const waitMs = await bench.longestWait()
  if (end !== '') {
    await bench.close()
    await bench.open()
  }
  return { name, waitMs, end }
}
