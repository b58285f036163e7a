/** Full-text search over all sessions: how long an answer takes, how fast the index is made, and how far it is behind a turn. */
import { openSqliteJournal } from '../../../src/adapters/journal/sqlite/sqlite-journal.ts'
import { systemClock } from '../../../src/adapters/clock.ts'
import { openSearchIndex } from '../../../src/adapters/search/worker/search-client.ts'
import type { SearchIndex } from '../../../src/ports/search.ts'
import { appendOf, workerUrl } from '../../journal-rows.ts'
import { type Peer, parley } from '../../peer.ts'
import { type Measuring, type Row, median, ms, perSecond, quantile } from '../../row.ts'
import { freshHome, writeScript } from '../../scene.ts'

const searchWorker = new URL('../../../dist/search-worker.cjs', import.meta.url)
const P95 = 50
const LAG = 2_000
const FOREVER = 3_600_000

export async function search({ quick, directory }: Measuring): Promise<readonly Row[]> {
  const entries = quick ? 100_000 : 1_000_000
  const home = freshHome(directory)
  await fill(home, entries)
  const index = openSearchIndex({ directory: home, workerUrl: searchWorker, clock: systemClock, report })
  try {
    const began = performance.now()
    await index.search({ query: 'nothing', limit: 1, timeoutMs: FOREVER })
    const made = performance.now() - began
    const took = await questions(index, quick ? 40 : 100)
    const size = entries.toLocaleString('en')
    return [
      row(`search over ${size} entries, p50`, ms(median(took))),
      row(`search over ${size} entries, p95`, ms(quantile(took, 0.95)), {
        goal: `≤ ${P95} ms`,
        ok: quantile(took, 0.95) <= P95,
      }),
      row('index made anew', perSecond((entries / made) * 1000)),
      ...(await lag(directory, quick ? 50_000 : 500_000)),
    ]
  } finally {
    await index.close()
  }
}

function row(what: string, measured: string, { goal = '–', ok = true }: Partial<Row> = {}): Row {
  return { what, measured, goal, floor: '–', ok }
}

/** Many sessions of chunks in English and Chinese, as people have them. */
async function fill(home: string, entries: number): Promise<void> {
  const journal = await openSqliteJournal({ directory: home, workerUrl })
  const each = 1_000
  for (let session = 0; session < entries / each; session += 1) await journal.append(wordy(session, each))
  await journal.close()
}

function wordy(session: number, count: number) {
  const append = appendOf(`session-${session}`, 0, count)
  const entries = append.entries.map((entry) =>
    entry.seq % 10 < 2 ? entry : { ...entry, body: chunk(session, entry.seq) },
  )
  return { ...append, entries }
}

function chunk(session: number, seq: number): string {
  const words = `session${session} rare${session * 1_000 + seq} common words 磁盘阵列 第${seq}段 `
  return JSON.stringify(['agent', `t1-m${Math.ceil(seq / 10)}`, words])
}

/** Words that are everywhere, in a few places, in one, in none; one word and several, in both languages. */
async function questions(index: SearchIndex, rounds: number): Promise<readonly number[]> {
  const took: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const asked = [
      'common',
      '磁盘阵列',
      `session${round}`,
      `rare${round * 777 + 12}`,
      `common rare${round * 99 + 13}`,
      `第${round + 12}段`,
      'absent',
    ]
    for (const query of asked) {
      const began = performance.now()
      await index.search({ query, limit: 20, timeoutMs: 1_000 })
      took.push(performance.now() - began)
    }
  }
  return took
}

/** A turn streams as fast as it can, then its last words are searched for at once: how long until the answer has looked at them all. */
async function lag(directory: string, chunks: number): Promise<readonly Row[]> {
  const home = freshHome(directory)
  const peer = parley(home, writeScript(directory, [{ chunk: 'busy {n} ', times: chunks }]))
  try {
    await peer.initialize()
    await peer.prompt(await peer.newSession('/'))
    const ended = performance.now()
    while ((await behind(peer)) > 0) await systemClock.sleep(20)
    const late = performance.now() - ended
    const size = chunks.toLocaleString('en')
    return [
      row(`a search after ${size} chunks at full speed sees all`, ms(late), { goal: `≤ ${LAG} ms`, ok: late <= LAG }),
    ]
  } finally {
    await peer.close()
  }
}

/** Entries that a search has not looked at. */
async function behind(peer: Peer): Promise<number> {
  const { text } = await peer.request('_parley/search', { query: 'busy', limit: 1 })
  const { result } = JSON.parse(text) as { readonly result: { readonly behind: number } }
  return result.behind
}

const report = (error: unknown): void => console.error(error)
