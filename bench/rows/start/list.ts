/** The first page of the list, with 10,000 sessions stored. */
import { openSqliteJournal } from '../../../src/adapters/journal/sqlite/sqlite-journal.ts'
import { fill, workerUrl } from '../../journal-rows.ts'
import { parley } from '../../peer.ts'
import { type Measuring, type Row, median, ms } from '../../row.ts'
import { freshHome, writeScript } from '../../scene.ts'

const GOAL = 20

export async function list({ quick, directory }: Measuring): Promise<readonly Row[]> {
  const home = freshHome(directory)
  const journal = await openSqliteJournal({ directory: home, workerUrl })
  await fill(journal, { sessions: quick ? 2_000 : 10_000, entriesEach: 1 })
  await journal.close()
  const peer = parley(home, writeScript(directory, [{ chunk: 'hello' }]))
  await peer.initialize()
  const took: number[] = []
  for (let repeat = 0; repeat < 20; repeat += 1) took.push((await peer.request('session/list', {})).ms)
  await peer.kill()
  const measured = median(took.slice(1))
  return [
    {
      what: 'first page of 10,000 listed',
      measured: ms(measured),
      goal: `≤ ${GOAL} ms`,
      floor: '–',
      ok: measured <= GOAL,
    },
  ]
}
