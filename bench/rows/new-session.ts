/** `session/new`, without MCP servers and with one that takes three seconds to say anything. */
import { fileURLToPath } from 'node:url'
import { type Peer, parley } from '../peer.ts'
import { type Measuring, type Row, median, ms } from '../row.ts'
import { freshHome, writeScript } from '../scene.ts'

const server = fileURLToPath(new URL('../../test/fixtures/mcp/stdio-server.mjs', import.meta.url))
const slow = { name: 'slow', command: process.execPath, args: [server, JSON.stringify({ slowMs: 3_000 })], env: [] }
const GOAL = 5

export async function newSession({ quick, directory }: Measuring): Promise<readonly Row[]> {
  const peer = parley(freshHome(directory), writeScript(directory, [{ chunk: 'hello' }]))
  await peer.initialize()
  // The first one waits for the journal, which is opened behind the answer to initialize.
  await peer.newSession(directory)
  const alone = await many(peer, { directory, count: quick ? 50 : 300, servers: [] })
  const slowly = await many(peer, { directory, count: quick ? 3 : 8, servers: [slow] })
  await peer.kill()
  return [
    row('session/new without MCP servers, p50', alone),
    row('session/new with a server that takes 3 s, p50', slowly),
  ]
}

interface Many {
  readonly directory: string
  readonly count: number
  readonly servers: readonly object[]
}

async function many(peer: Peer, { directory, count, servers }: Many): Promise<number> {
  const took: number[] = []
  for (let made = 0; made < count; made += 1) {
    const began = performance.now()
    await peer.newSession(directory, servers)
    took.push(performance.now() - began)
  }
  return median(took)
}

function row(what: string, measured: number): Row {
  return { what, measured: ms(measured), goal: `≤ ${GOAL} ms`, floor: '–', ok: measured <= GOAL }
}
