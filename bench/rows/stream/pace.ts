/**
 * What a token costs at the pace of a real model, 50 a second: processor time of the relay, the server and all that it
 * has started, for so many sessions at once, beside the SDK's echo agent, which has no model behind it and stores nothing.
 */
import { fileURLToPath } from 'node:url'
import { startModel } from '../../model-peer.ts'
import { Peer, binary, settings } from '../../peer.ts'
import { treeProcessorMs } from '../../proc.ts'
import { type Measuring, type Row, ms, quantile } from '../../row.ts'
import { freshHome } from '../../scene.ts'
import { Server } from '../../server.ts'

const echo = fileURLToPath(new URL('../../peers/echo-agent.ts', import.meta.url))
const EVERY_MS = 20
const TEXT = 'at {at} some words '
/** Milliseconds of processor time a token, at most, by the number of sessions. */
const GOALS: readonly (readonly [sessions: number, goal: number])[] = [
  [1, 1],
  [10, 0.5],
  [40, 0.3],
]

export async function pace({ quick, directory }: Measuring): Promise<readonly Row[]> {
  const tokens = quick ? 100 : 500
  const rows: Row[] = []
  for (const [sessions, goal] of GOALS) {
    const paced = { sessions, tokens, directory }
    const floor = await paceOfEcho(paced)
    const { each, lags } = await paceOfModel({ ...paced, watchers: 0, slow: 0 })
    rows.push({
      what: `CPU per token at ${1_000 / EVERY_MS} a second, ${sessions} session${sessions === 1 ? '' : 's'}`,
      measured: `${ms(each)} (lag p99 ${ms(quantile(lags, 0.99))})`,
      goal: `≤ ${ms(goal)}`,
      floor: `${ms(floor)} SDK's echo agent, no model`,
      ok: each <= goal,
    })
  }
  return rows
}

interface Paced {
  readonly sessions: number
  readonly tokens: number
  readonly directory: string
}

async function paceOfEcho({ sessions, tokens, directory }: Paced): Promise<number> {
  const tsx = import.meta.resolve('tsx')
  const peer = new Peer(['--import', tsx, echo, String(tokens), TEXT, String(EVERY_MS)])
  await peer.initialize()
  const ids = await newSessions(peer, sessions, directory)
  const before = treeProcessorMs(peer.child.pid)
  await peer.promptAll(ids)
  const spent = treeProcessorMs(peer.child.pid) - before
  await peer.kill()
  return spent / (tokens * sessions)
}

export interface Pace {
  /** Milliseconds of processor time a token. */
  readonly each: number
  /** Milliseconds from the model to the client, of each token. */
  readonly lags: readonly number[]
}

export interface Watched extends Paced {
  /** Further clients that have all these sessions open. */
  readonly watchers: number
  /** So many of the watchers read nothing. */
  readonly slow: number
}

/** One client over the relay, so many sessions of the model agent. */
export async function paceOfModel({ sessions, tokens, directory, watchers, slow }: Watched): Promise<Pace> {
  const model = await startModel(directory, [{ text: TEXT, times: tokens, everyMs: EVERY_MS }])
  const home = freshHome(directory)
  const server = await Server.startWith(home, model.environment)
  const client = new Peer([binary, 'acp'], settings(home))
  try {
    await client.initialize()
    const ids = await newSessions(client, sessions, directory)
    for (let watcher = 0; watcher < watchers; watcher += 1)
      await watch(server, ids, { cwd: directory, isSlow: watcher < slow })
    const spent = (): number => server.treeProcessorMs() + treeProcessorMs(client.child.pid)
    const before = spent()
    const lags = await client.promptAll(ids)
    return { each: (spent() - before) / (tokens * sessions), lags }
  } finally {
    await client.kill()
    await server.kill()
    await model.close()
  }
}

interface Watcher {
  readonly cwd: string
  readonly isSlow: boolean
}

async function watch(server: Server, ids: readonly string[], { cwd, isSlow }: Watcher): Promise<void> {
  const talk = await server.client()
  for (const sessionId of ids) await talk.request('session/resume', { sessionId, cwd, mcpServers: [] })
  talk.forget()
  if (isSlow) talk.pause()
}

async function newSessions(peer: Peer, count: number, cwd: string): Promise<readonly string[]> {
  const ids: string[] = []
  for (let made = 0; made < count; made += 1) ids.push(await peer.newSession(cwd))
  return ids
}
