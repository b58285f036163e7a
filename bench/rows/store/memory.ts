/**
 * Resident memory: of the relay and the server with one and with 20 sessions that a model has answered; of the server with 20
 * sessions that have had a turn, and what each further idle one adds, at 1,000 and 10,000.
 */
import { startModel } from '../../model-peer.ts'
import { Peer, binary, settings } from '../../peer.ts'
import { treeBytes } from '../../proc.ts'
import { type Measuring, type Row, mebibytes } from '../../row.ts'
import { freshHome, writeScript } from '../../scene.ts'
import { Server } from '../../server.ts'

const LIVE = 20
/** Of all our processes, by the number of sessions that have answered. MiB. */
const ANSWERED: readonly (readonly [sessions: number, goal: number])[] = [
  [1, 90],
  [LIVE, 110],
]
const GOAL = 120 * 1024 * 1024
const GOAL_EACH = 20

export async function memory(measuring: Measuring): Promise<readonly Row[]> {
  return [...(await answered(measuring)), ...(await ofServer(measuring))]
}

/** The relay and the server behind it, as an editor has them. */
async function answered({ directory }: Measuring): Promise<readonly Row[]> {
  const model = await startModel(directory, [{ text: 'some words ', times: 50 }])
  const home = freshHome(directory)
  const server = await Server.startWith(home, model.environment)
  const client = new Peer([binary, 'acp'], settings(home))
  const rows: Row[] = []
  try {
    await client.initialize()
    let made = 0
    for (const [sessions, goal] of ANSWERED) {
      for (; made < sessions; made += 1) await client.prompt(await client.newSession(directory))
      const bytes = server.treeBytes() + treeBytes(client.child.pid)
      rows.push({
        what: `memory of relay and server, ${sessions} answered`,
        measured: mebibytes(bytes),
        goal: `≤ ${goal} MiB`,
        floor: `${mebibytes(server.memory())} of it the server`,
        ok: bytes <= goal * 1024 * 1024,
      })
    }
    return rows
  } finally {
    await client.kill()
    await server.kill()
    await model.close()
  }
}

async function ofServer({ quick, directory }: Measuring): Promise<readonly Row[]> {
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
