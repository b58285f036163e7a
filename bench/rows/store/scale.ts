/**
 * How costs grow: one session of 10³ to 10⁶ entries opened cold by a fresh process, lists of 1 to 10⁴ sessions, and a turn that
 * 1 to 100 clients follow. Each row says the exponent of its growth: 1 is linear.
 */
import { openSqliteJournal } from '../../../src/adapters/journal/sqlite/sqlite-journal.ts'
import { fill, workerUrl } from '../../journal-rows.ts'
import { type Peer, parley } from '../../peer.ts'
import { type Measuring, type Row, median, mebibytes, ms, perSecond } from '../../row.ts'
import { freshHome, writeScript } from '../../scene.ts'
import { Server } from '../../server.ts'

/** The exponent of what is no longer linear, with room for what one run differs from another. */
const LINEAR = 1.1
const LIVE = 1_000
const CHUNKS = 5_000

export async function scale(measuring: Measuring): Promise<readonly Row[]> {
  const { quick } = measuring
  const rows: Row[] = []
  let before: Cost | undefined
  for (const entries of quick ? [1_000, 10_000] : [1_000, 10_000, 100_000, 1_000_000]) {
    const cost = await load(measuring, entries)
    rows.push(...costRows(entries, cost, before))
    before = cost
  }
  let page: number | undefined
  for (const sessions of quick ? [1, 10, 100] : [1, 10, 100, 1_000, 10_000]) {
    const took = await list(measuring, sessions)
    rows.push(row(`first page of ${count(sessions)} sessions`, ms(took), { growth: grown(took, page) }))
    page = took
  }
  let followed: number | undefined
  for (const clients of quick ? [1, 10] : [1, 10, 100]) {
    const took = await turnFor(measuring, clients)
    rows.push(
      row(`CPU of a turn of ${count(CHUNKS)} chunks for ${clients} clients`, ms(took), {
        growth: grown(took, followed),
      }),
    )
    followed = took
  }
  return [...rows, ...(await live(measuring, quick ? 100 : LIVE))]
}

interface Cost {
  /** From spawn to the first update of the session. */
  readonly servedMs: number
  readonly firstMs: number
  readonly allMs: number
  /** What the load added to the memory of the process at its highest. */
  readonly bytes: number
  readonly updates: number
}

async function load({ directory }: Measuring, entries: number): Promise<Cost> {
  const home = freshHome(directory)
  const script = writeScript(directory, [{ chunk: 'hello' }])
  const journal = await openSqliteJournal({ directory: home, workerUrl })
  await fill(journal, { sessions: 1, entriesEach: entries })
  await journal.close()
  await prompted(parley(home, script))
  const costs: Cost[] = []
  for (let repeat = 0; repeat < 3; repeat += 1) costs.push(await loaded(() => parley(home, script)))
  return costs.toSorted((one, other) => one.allMs - other.allMs)[1] ?? fail()
}

/** As a server leaves it: with a snapshot. */
async function prompted(peer: Peer): Promise<void> {
  await peer.initialize()
  await peer.request('session/resume', opening)
  await peer.prompt(opening.sessionId)
  await peer.close()
}

const opening = { sessionId: 'session-0', cwd: '/', mcpServers: [] }

async function loaded(open: () => Peer): Promise<Cost> {
  const began = performance.now()
  const peer = open()
  await peer.initialize()
  const asked = performance.now()
  const before = peer.memory()
  let highest = before
  const watch = setInterval(() => (highest = Math.max(highest, peer.memory())), 10)
  const { firstUpdateMs, ms: allMs, updates } = await peer.request('session/load', opening)
  clearInterval(watch)
  await peer.kill()
  const servedMs = asked - began + firstUpdateMs
  return { servedMs, firstMs: firstUpdateMs, allMs, bytes: highest - before, updates }
}

function costRows(entries: number, cost: Cost, before: Cost | undefined): readonly Row[] {
  const of = `of ${count(entries)} entries`
  const { servedMs, firstMs, allMs, bytes, updates } = cost
  const rate = `${perSecond((entries / allMs) * 1000)}, ${count(updates)} updates`
  return [
    row(`restart → first update ${of}`, ms(servedMs), { growth: grown(servedMs, before?.servedMs) }),
    row(`first update ${of}`, ms(firstMs), { growth: grown(firstMs, before?.firstMs) }),
    row(`load ${of}`, ms(allMs), { growth: grown(allMs, before?.allMs), more: rate }),
    row(`memory that a load ${of} adds`, mebibytes(bytes), { growth: grown(bytes, before?.bytes) }),
  ]
}

async function list({ directory }: Measuring, sessions: number): Promise<number> {
  const home = freshHome(directory)
  const journal = await openSqliteJournal({ directory: home, workerUrl })
  await fill(journal, { sessions, entriesEach: 1 })
  await journal.close()
  const peer = parley(home, writeScript(directory, [{ chunk: 'hello' }]))
  await peer.initialize()
  const took: number[] = []
  for (let repeat = 0; repeat < 20; repeat += 1) took.push((await peer.request('session/list', {})).ms)
  await peer.kill()
  return median(took.slice(1))
}

/** Processor time of the server for one turn that so many clients follow. */
async function turnFor({ directory }: Measuring, clients: number): Promise<number> {
  const server = await Server.start(
    freshHome(directory),
    writeScript(directory, [{ chunk: 'and {n} more words ', times: CHUNKS }]),
  )
  try {
    const first = await server.client()
    const sessionId = await first.newSession(directory)
    for (let more = 1; more < clients; more += 1) {
      const talk = await server.client()
      await talk.request('session/resume', { sessionId, cwd: directory, mcpServers: [] })
      talk.forget()
    }
    const before = server.processorMs()
    await first.prompt(sessionId)
    return server.processorMs() - before
  } finally {
    await server.kill()
  }
}

/** What is asked while so many sessions are open. */
async function live({ directory }: Measuring, sessions: number): Promise<readonly Row[]> {
  const peer = parley(freshHome(directory), writeScript(directory, [{ chunk: 'hello' }]))
  await peer.initialize()
  const first = await peer.newSession('/')
  const alone = await prompts(peer, first)
  for (let made = 1; made < sessions; made += 1) await peer.newSession('/')
  const among = await prompts(peer, first)
  const page = median([await asked(peer), await asked(peer), await asked(peer)])
  await peer.kill()
  return [
    row(`a prompt with 1 session live`, ms(alone), {}),
    row(`a prompt with ${count(sessions)} sessions live`, ms(among), { growth: grown(among, alone, sessions) }),
    row(`first page with ${count(sessions)} sessions live`, ms(page), {}),
  ]
}

async function prompts(peer: Peer, sessionId: string): Promise<number> {
  const took: number[] = []
  for (let repeat = 0; repeat < 20; repeat += 1) took.push((await peer.prompt(sessionId)).ms)
  return median(took)
}

async function asked(peer: Peer): Promise<number> {
  return (await peer.request('session/list', {})).ms
}

/** The exponent with which the cost has grown, at so many times the size. */
function grown(cost: number, before: number | undefined, sizes = 10): number | undefined {
  return before === undefined || before <= 0 ? undefined : Math.log(cost / before) / Math.log(sizes)
}

interface Growth {
  readonly growth?: number | undefined
  readonly more?: string
}

function row(what: string, measured: string, { growth, more }: Growth): Row {
  const floor = [growth === undefined ? '' : `exponent ${growth.toFixed(2)}`, more ?? ''].filter(Boolean)
  const goal = growth === undefined ? '–' : `exponent ≤ ${LINEAR}`
  return { what, measured, goal, floor: floor.join('; ') || '–', ok: growth === undefined || growth <= LINEAR }
}

function count(value: number): string {
  return value.toLocaleString('en')
}

function fail(): never {
  throw new Error('nothing was measured')
}
