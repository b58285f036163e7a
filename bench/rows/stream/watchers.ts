/** One turn of 2,000 chunks watched by 1, 10 and 50 clients of one server: wall time until the last has all, and the server's processor time. */
import { type Measuring, type Row, median, ms, times } from '../../row.ts'
import { freshHome, writeScript } from '../../scene.ts'
import { Server } from '../../server.ts'
import type { Talk } from '../../talk.ts'

const CHUNKS = 2_000
const WALL = 8
const PROCESSOR = 3
/** Turns per figure: the kernel counts processor time in hundredths of a second. */
const TURNS = { quick: 5, whole: 20 }

interface Figure {
  readonly wall: number
  readonly processor: number
}

export async function watchers({ quick, directory }: Measuring): Promise<readonly Row[]> {
  const script = writeScript(directory, [{ chunk: 'and {n} more words ', times: CHUNKS }])
  const server = await Server.start(freshHome(directory), script)
  try {
    const turns = quick ? TURNS.quick : TURNS.whole
    await watched(server, { directory, clients: 1, turns })
    const one = await watched(server, { directory, clients: 1, turns })
    const rows: Row[] = []
    for (const clients of [10, 50]) rows.push(rowOf(clients, await watched(server, { directory, clients, turns }), one))
    return rows
  } finally {
    await server.kill()
  }
}

function rowOf(clients: number, many: Figure, one: Figure): Row {
  const wall = many.wall / one.wall
  const processor = many.processor / one.processor
  return {
    what: `a turn of 2,000 chunks watched by ${clients} clients`,
    measured: `${times(wall)} wall, ${times(processor)} CPU`,
    goal: `≤ ${WALL} × wall, ≤ ${PROCESSOR} × CPU`,
    floor: `${ms(one.wall)} wall, ${ms(one.processor)} CPU: one client`,
    ok: wall <= WALL && processor <= PROCESSOR,
  }
}

async function watched(
  server: Server,
  { directory, clients, turns }: { readonly directory: string; readonly clients: number; readonly turns: number },
): Promise<Figure> {
  const speaker = await server.client()
  const sessionId = await speaker.newSession(directory)
  const others: Talk[] = []
  for (let made = 1; made < clients; made += 1) {
    const other = await server.client()
    await other.request('session/resume', { sessionId, cwd: directory })
    others.push(other)
  }
  const walls: number[] = []
  const before = server.processorMs()
  for (let turn = 0; turn < turns; turn += 1) {
    const began = performance.now()
    const all = others.map((other) => other.lines(CHUNKS))
    await speaker.prompt(sessionId)
    await Promise.all(all)
    walls.push(performance.now() - began)
  }
  const processor = (server.processorMs() - before) / turns
  await speaker.request('session/close', { sessionId })
  return { wall: median(walls), processor }
}
