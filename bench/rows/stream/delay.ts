/** What durability adds to one update that comes alone: its append, beside a bare fdatasync on the same disk in the same run. */
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openSqliteJournal } from '../../../src/adapters/journal/sqlite/sqlite-journal.ts'
import { appendOf, workerUrl } from '../../journal-rows.ts'
import { type Measuring, type Row, ms, quantile, times } from '../../row.ts'
import { freshHome } from '../../scene.ts'

const GOAL_P50 = 2
const GOAL_RATIO = 2
/** About what one append of one entry writes to the log. */
const BYTES = Buffer.alloc(5 * 4096, 'x')

export async function delay({ quick, directory }: Measuring): Promise<readonly Row[]> {
  const home = freshHome(directory)
  const journal = await openSqliteJournal({ directory: home, workerUrl })
  const descriptor = openSync(join(home, 'plain'), 'w')
  const appends: number[] = []
  const syncs: number[] = []
  // In turns, so that both meet the same weather on the disk.
  for (let seq = 0; seq < (quick ? 200 : 2_000); seq += 1) {
    appends.push(await timed(() => journal.append(appendOf('s', seq, 1))))
    syncs.push(await timed(() => (writeSync(descriptor, BYTES), fdatasyncSync(descriptor))))
    await sleep(1)
  }
  closeSync(descriptor)
  await journal.close()
  return rowsOf(appends.slice(20), syncs.slice(20))
}

function rowsOf(appends: readonly number[], syncs: readonly number[]): readonly Row[] {
  const [p50, p99, sync50, sync99] = [
    quantile(appends, 0.5),
    quantile(appends, 0.99),
    quantile(syncs, 0.5),
    quantile(syncs, 0.99),
  ]
  const what = 'delay that durability adds to one update'
  return [
    {
      what: `${what}, p50`,
      measured: ms(p50),
      goal: `≤ ${GOAL_P50} ms`,
      floor: `${ms(sync50)} fdatasync`,
      ok: p50 <= GOAL_P50,
    },
    {
      what: `${what}, p99`,
      measured: `${ms(p99)} (${times(p99 / sync99)})`,
      goal: `≤ ${GOAL_RATIO} × fdatasync`,
      floor: `${ms(sync99)} fdatasync`,
      ok: p99 <= GOAL_RATIO * sync99,
    },
  ]
}

async function timed(work: () => unknown): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}
