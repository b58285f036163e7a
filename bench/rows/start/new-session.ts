/** `session/new`, without MCP servers and with one that takes three seconds to say anything. */
import { fileURLToPath } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Peer, parley } from '../../peer.ts'
import { type Measuring, type Row, median, ms, quantile } from '../../row.ts'
import { freshHome, writeScript } from '../../scene.ts'

const server = fileURLToPath(new URL('../../../test/fixtures/mcp/stdio-server.mjs', import.meta.url))
/** It sleeps before it does anything, so that what it costs by starting is not counted as ours. */
const script = 'sleep 3; exec "$0" "$1" "{}"'
const slow = { name: 'slow', command: '/bin/sh', args: ['-c', script, process.execPath, server], env: [] }
const GOAL = 5
/** The slowest of a hundred, while so many servers of the session before it are starting. */
const [STARTING, GOAL_WORST] = [5, 10]
/** Milliseconds between two sessions. A server's process is started some milliseconds after its session was answered: in a burst, into the next. */
const [BRIEF, LONG] = [5, 150]

/** Until each `script` is over and the program behind it has started: a Node program takes the processor for longer than a session. */
const SETTLED = 5_000

export async function newSession({ quick, directory }: Measuring): Promise<readonly Row[]> {
  const peer = parley(freshHome(directory), writeScript(directory, [{ chunk: 'hello' }]))
  await peer.initialize()
  // The first one waits for the journal, which is opened behind the answer to initialize.
  await peer.newSession(directory)
  const alone = await many(peer, { directory, count: quick ? 50 : 300, servers: [], pause: BRIEF })
  const slowly = await many(peer, { directory, count: quick ? 5 : 15, servers: [slow], pause: LONG })
  const burst = await many(peer, { directory, count: quick ? 5 : 15, servers: [slow], pause: BRIEF })
  // Every server of before is there, and none of the next ones will be before they are counted.
  await sleep(SETTLED)
  const several = Array.from({ length: STARTING }, (_, at) => ({ ...slow, name: `slow-${at}` }))
  const beside = await many(peer, { directory, count: quick ? 5 : 20, servers: several, pause: BRIEF })
  await peer.kill()
  const worst = quantile(beside, 0.99)
  return [
    row('session/new without MCP servers, p50', { measured: median(alone), floor: '–' }),
    row('session/new with a server that takes 3 s, p50', {
      measured: median(slowly),
      floor: `${ms(median(burst))} where another starts its server meanwhile`,
    }),
    {
      what: `session/new while ${STARTING} stdio servers start, p99`,
      measured: ms(worst),
      goal: `≤ ${GOAL_WORST} ms`,
      floor: `${ms(median(beside))} p50`,
      ok: worst <= GOAL_WORST,
    },
  ]
}

interface Many {
  readonly directory: string
  readonly count: number
  readonly servers: readonly object[]
  readonly pause: number
}

async function many(peer: Peer, { directory, count, servers, pause }: Many): Promise<readonly number[]> {
  const took: number[] = []
  for (let made = 0; made < count; made += 1) {
    const began = performance.now()
    await peer.newSession(directory, servers)
    took.push(performance.now() - began)
    // People open sessions one by one.
    await sleep(pause)
  }
  return took
}

function row(what: string, { measured, floor }: { readonly measured: number; readonly floor: string }): Row {
  return { what, measured: ms(measured), goal: `≤ ${GOAL} ms`, floor, ok: measured <= GOAL }
}
