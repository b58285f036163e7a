/** What the loop, the journal and the way to the client add to a model over HTTP; the model by itself is the floor. */
import { fileURLToPath } from 'node:url'
import { type ModelPeer, startModel } from '../../model-peer.ts'
import { Peer } from '../../peer.ts'
import { type Measuring, type Row, mebibytes, median, ms, perSecond, times } from '../../row.ts'
import { freshHome } from '../../scene.ts'
import { Server } from '../../server.ts'

const CHUNKS = 2_000
const GOAL_RATE = 22_000
const GOAL_TOKEN = 7
const echo = fileURLToPath(new URL('../../peers/echo-agent.ts', import.meta.url))
const WORDS = 'and {n} more words '
const GOAL_LATER = 1.2
const SESSIONS = 20
const GOAL_MEMORY = 150 * 1024 * 1024

export async function model(measuring: Measuring): Promise<readonly Row[]> {
  return [...(await oneToken(measuring)), ...(await manyChunks(measuring))]
}

async function oneToken({ quick, directory }: Measuring): Promise<readonly Row[]> {
  const peer = await startModel(directory, [{ text: 'ok' }])
  const server = await Server.startWith(freshHome(directory), peer.environment)
  try {
    const client = await server.client()
    const session = await client.newSession(freshHome(directory))
    await client.prompt(session)
    const [turns, floor]: [number[], number[]] = [[], []]
    for (let turn = 0; turn < (quick ? 60 : 200); turn += 1) {
      turns.push((await client.prompt(session)).ms)
      floor.push(await peer.floor(turn + 2))
    }
    const whole = median(turns)
    const later = median(turns.slice(-20)) / median(turns.slice(0, 20))
    return [
      {
        what: 'model: a turn of one token',
        measured: ms(whole),
        goal: `≤ ${GOAL_TOKEN} ms`,
        floor: `${ms(median(floor))} of it the model by itself`,
        ok: whole <= GOAL_TOKEN,
      },
      {
        what: `model: the last 20 of ${turns.length} turns beside the first 20`,
        measured: times(later),
        goal: `≤ ${times(GOAL_LATER)}`,
        floor: `${ms(median(turns.slice(0, 20)))} the first 20`,
        ok: later <= GOAL_LATER,
      },
    ]
  } finally {
    await server.kill()
    await peer.close()
  }
}

async function manyChunks({ quick, directory }: Measuring): Promise<readonly Row[]> {
  const peer = await startModel(directory, [{ text: WORDS, times: CHUNKS }])
  const server = await Server.startWith(freshHome(directory), peer.environment)
  try {
    const rate = await rateOf({ server, peer, repeats: quick ? 5 : 20, directory })
    const parallel = await inParallel(server, directory)
    return [rate, parallel]
  } finally {
    await server.kill()
    await peer.close()
  }
}

interface Flood {
  readonly server: Server
  readonly peer: ModelPeer
  readonly repeats: number
  readonly directory: string
}

async function rateOf({ server, peer, repeats, directory }: Flood): Promise<Row> {
  const client = await server.client()
  const [turns, floor, echoes]: [number[], number[], number[]] = [[], [], []]
  const other = new Peer(['--import', import.meta.resolve('tsx'), echo, String(CHUNKS), WORDS])
  await other.initialize()
  const echoing = await other.newSession(directory)
  for (let repeat = 0; repeat <= repeats; repeat += 1) {
    const { ms: took, lastUpdate } = await client.prompt(await client.newSession(directory))
    if (!lastUpdate.includes(`and ${CHUNKS} more words`)) throw new Error(`the turn ended with ${lastUpdate}`)
    floor.push(await peer.floor())
    const { ms: echoed } = await other.prompt(echoing)
    // The first one loads what the others have.
    if (repeat > 0) {
      turns.push(took)
      echoes.push(echoed)
    }
  }
  await other.kill()
  const measured = rateAt(median(turns))
  const echoed = rateAt(median(echoes))
  return {
    what: `model: ${CHUNKS.toLocaleString('en')} chunks at once, durable`,
    measured: perSecond(measured),
    goal: `≥ ${perSecond(GOAL_RATE)} and ≥ the echo agent`,
    floor: `${perSecond(echoed)} echo agent, ${perSecond(rateAt(median(floor)))} the model`,
    ok: measured >= Math.max(GOAL_RATE, echoed),
  }
}

/** Chunks a second of a turn that took so many milliseconds. */
function rateAt(took: number): number {
  return (CHUNKS / took) * 1_000
}

/** Memory once each of so many sessions has had such a turn, all at the same time. */
async function inParallel(server: Server, directory: string): Promise<Row> {
  const start = performance.now()
  await Promise.all(
    Array.from({ length: SESSIONS }, async () => {
      const client = await server.client()
      await client.prompt(await client.newSession(directory))
    }),
  )
  const took = performance.now() - start
  return {
    what: `model: memory after ${SESSIONS} sessions at once`,
    measured: mebibytes(server.memory()),
    goal: `≤ ${mebibytes(GOAL_MEMORY)}`,
    floor: `${perSecond(((CHUNKS * SESSIONS) / took) * 1_000)} chunks together`,
    ok: server.memory() <= GOAL_MEMORY,
  }
}
