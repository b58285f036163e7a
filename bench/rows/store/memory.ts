/** Resident memory of the server: with 20 sessions that have had a turn, and what each further idle one adds, at 1,000 and 10,000. */
import { type Measuring, type Row, mebibytes } from '../../row.ts'
import { freshHome, writeScript } from '../../scene.ts'
import { Server } from '../../server.ts'

const LIVE = 20
const GOAL = 120 * 1024 * 1024
const GOAL_EACH = 20

export async function memory({ quick, directory }: Measuring): Promise<readonly Row[]> {
  const script = writeScript(directory, [{ chunk: 'and {n} more words ', times: 1_000 }])
  const server = await Server.start(freshHome(directory), script)
  try {
    const client = await server.client()
    for (let made = 0; made < LIVE; made += 1) await client.prompt(await client.newSession(directory))
    const live = server.memory()
    const rows: Row[] = [
      {
        what: `memory with ${LIVE} live sessions`,
        measured: mebibytes(live),
        goal: `≤ ${mebibytes(GOAL)}`,
        floor: '–',
        ok: live <= GOAL,
      },
    ]
    let made = 0
    for (const idle of quick ? [300] : [1_000, 10_000]) {
      for (; made < idle; made += 1) await client.newSession(directory)
      const each = (server.memory() - live) / idle / 1024
      rows.push({
        what: `memory per further idle session, ${idle.toLocaleString('en')} of them`,
        measured: `${each.toFixed(1)} KiB (${mebibytes(server.memory())} in all)`,
        goal: `≤ ${GOAL_EACH} KiB`,
        floor: '–',
        ok: each <= GOAL_EACH,
      })
    }
    return rows
  } finally {
    await server.kill()
  }
}
