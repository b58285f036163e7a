/** What Parley adds to an external agent: the agent alone, behind the SDK's own proxy loop, and behind a server of Parley. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Peer } from '../../peer.ts'
import { processorMs } from '../../proc.ts'
import { type Measuring, type Row, mebibytes, median, ms, times } from '../../row.ts'
import { freshHome } from '../../scene.ts'
import { Server } from '../../server.ts'
import type { Talk } from '../../talk.ts'

const agent = fileURLToPath(new URL('../../peers/acp-agent.mjs', import.meta.url))
const proxy = fileURLToPath(new URL('../../peers/proxy.ts', import.meta.url))
const ADDED_MS = 5
const PROCESSOR = 1.3
const LOAD_MS = 50
/** How long the agent takes to load: the load of Parley must not. */
const AGENT_LOADS_MS = 300
const TURNS = 200

/** A client of the agent, and the process between them. */
interface Way {
  readonly talk: Talk
  /** When nothing of the agent ran yet. */
  readonly began: number
  readonly processorMs: () => number
  readonly memory: () => number
  readonly end: () => Promise<void>
}

type Open = (chunks: number, home: string) => Promise<Way>

const alone: Open = async (chunks) => wayOf(new Peer([agent, String(chunks), String(AGENT_LOADS_MS)]))
const proxied: Open = async (chunks) =>
  wayOf(new Peer(['--import', import.meta.resolve('tsx'), proxy, process.execPath, agent, String(chunks), '0']))

const behind: Open = async (chunks, home) => {
  const config = join(home, 'config', 'parley')
  mkdirSync(config, { recursive: true })
  const args = JSON.stringify([agent, String(chunks), String(AGENT_LOADS_MS)])
  const entry = `[agents.bench]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${args}\n`
  writeFileSync(join(config, 'parley.toml'), entry)
  const server = await Server.startWith(home, { PARLEY_AGENT: 'bench' })
  const talk = await server.client()
  return {
    talk,
    began: performance.now(),
    processorMs: () => server.processorMs(),
    memory: () => server.memory(),
    end: () => server.kill(),
  }
}

export async function agents({ quick, directory }: Measuring): Promise<readonly Row[]> {
  const place = { directory, chunks: quick ? 5_000 : 40_000, turns: quick ? 50 : TURNS }
  return [...(await turnRows(place)), ...(await tokenRows(place))]
}

interface Place {
  readonly directory: string
  readonly chunks: number
  readonly turns: number
}

/** Turns of one word: what is added to each, to the first of a session, and to its load. */
async function turnRows({ directory, turns }: Place): Promise<readonly Row[]> {
  const own = await alone(1, directory)
  const bare = await shortTurns(own, directory, turns)
  const params = { sessionId: bare.sessionId, cwd: directory, mcpServers: [] }
  const { ms: bareLoad } = await own.talk.request('session/load', params)
  await own.end()
  const home = freshHome(directory)
  const way = await behind(1, home)
  const before = way.memory()
  const ours = await shortTurns(way, directory, turns)
  const memory = way.memory() - before
  const { talk } = way
  await talk.request('session/close', { sessionId: ours.sessionId })
  const loads: number[] = []
  for (let n = 0; n < 10; n += 1) {
    const { ms: took } = await talk.request('session/load', {
      sessionId: ours.sessionId,
      cwd: directory,
      mcpServers: [],
    })
    loads.push(took)
    await talk.request('session/close', { sessionId: ours.sessionId })
  }
  await way.end()
  const added = ours.turn - bare.turn
  const load = median(loads)
  return [
    {
      what: 'an agent behind Parley: added to a turn, p50',
      measured: ms(added),
      goal: `≤ ${ADDED_MS} ms`,
      floor: `${ms(bare.turn)} the agent alone`,
      ok: added <= ADDED_MS,
    },
    {
      what: 'an agent behind Parley: start to the first token',
      measured: ms(ours.start),
      goal: '–',
      floor: `${ms(bare.start)} the agent alone`,
      ok: true,
    },
    {
      what: `an agent behind Parley: cold load of ${turns} turns`,
      measured: ms(load),
      goal: `≤ ${LOAD_MS} ms, whatever the agent's takes`,
      floor: `${ms(bareLoad)} the agent alone`,
      ok: load <= LOAD_MS,
    },
    {
      what: `an agent behind Parley: memory after ${turns} turns`,
      measured: mebibytes(memory),
      goal: '–',
      floor: '–',
      ok: true,
    },
  ]
}

interface Short {
  readonly sessionId: string
  readonly turn: number
  /** Until the end of the first turn. */
  readonly start: number
}

async function shortTurns({ talk, began }: Way, cwd: string, turns: number): Promise<Short> {
  const sessionId = await talk.newSession(cwd)
  await talk.prompt(sessionId)
  const start = performance.now() - began
  const took: number[] = []
  for (let n = 1; n < turns; n += 1) took.push((await talk.prompt(sessionId)).ms)
  return { sessionId, turn: median(took), start }
}

/** Processor time of what stands between the client and the agent, for each word. */
async function tokenRows({ directory, chunks }: Place): Promise<readonly Row[]> {
  const floor = await perToken(await proxied(chunks, directory), directory, chunks)
  const ours = await perToken(await behind(chunks, freshHome(directory)), directory, chunks)
  const ratio = ours / floor
  return [
    {
      what: 'an agent behind Parley: CPU per token, durable',
      measured: `${(ours * 1_000).toFixed(1)} µs (${times(ratio)})`,
      goal: `≤ ${PROCESSOR} × the SDK's proxy loop`,
      floor: `${(floor * 1_000).toFixed(1)} µs the SDK's proxy, not durable`,
      ok: ratio <= PROCESSOR,
    },
  ]
}

async function perToken(way: Way, cwd: string, chunks: number): Promise<number> {
  const sessionId = await way.talk.newSession(cwd)
  // The first turn warms it up.
  await way.talk.prompt(sessionId)
  const before = way.processorMs()
  await way.talk.prompt(sessionId)
  await way.talk.prompt(sessionId)
  const used = way.processorMs() - before
  await way.end()
  return used / (2 * chunks)
}

async function wayOf(peer: Peer): Promise<Way> {
  const began = performance.now()
  await peer.initialize()
  return {
    talk: peer,
    began,
    processorMs: () => processorMs(peer.child.pid),
    memory: () => peer.memory(),
    end: () => peer.kill(),
  }
}
