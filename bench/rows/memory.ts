/** Resident memory of the one process, with 20 sessions that have had a turn, and what each further idle one adds. */
import { parley } from '../peer.ts'
import { type Measuring, type Row, mebibytes } from '../row.ts'
import { freshHome, writeScript } from '../scene.ts'

const LIVE = 20
const GOAL = 120 * 1024 * 1024
const GOAL_EACH = 20

export async function memory({ quick, directory }: Measuring): Promise<readonly Row[]> {
  const peer = parley(freshHome(directory), writeScript(directory, [{ chunk: 'and {n} more words ', times: 1_000 }]))
  await peer.initialize()
  for (let made = 0; made < LIVE; made += 1) await peer.prompt(await peer.newSession(directory))
  const live = peer.memory()
  const more = quick ? 300 : 3_000
  for (let made = 0; made < more; made += 1) await peer.newSession(directory)
  const each = (peer.memory() - live) / more / 1024
  await peer.kill()
  return [
    {
      what: `memory with ${LIVE} live sessions`,
      measured: mebibytes(live),
      goal: `≤ ${mebibytes(GOAL)}`,
      floor: '–',
      ok: live <= GOAL,
    },
    {
      what: 'memory per further idle session',
      measured: `${each.toFixed(1)} KiB`,
      goal: `≤ ${GOAL_EACH} KiB`,
      floor: '–',
      ok: each <= GOAL_EACH,
    },
  ]
}
