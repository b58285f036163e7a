/** One run over all systems, group by group and half by half. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type DocsServer, openDocsServer } from '../../../src/docs-search/server.ts'
import { judge, type Query, queries, type Score, type SearchSystem } from './judge.ts'
import { searchOverHttp } from '../search-over-http.ts'
import { passagesIn, substrings, trigrams } from './others.ts'
import { fetchTexts } from './texts.ts'

export interface Row {
  readonly group: Query['group']
  readonly half: Query['half']
  readonly system: 'parley' | 'substrings' | 'trigrams'
  readonly score: Score
}

export interface Comparison {
  readonly passages: number
  readonly rows: readonly Row[]
}

const KEY = 'a-key-for-judging-searches'

type Passages = Awaited<ReturnType<typeof passagesIn>>

export async function compare(): Promise<Comparison> {
  const directory = fetchTexts()
  const passages = await passagesIn(directory)
  const server = await openDocsServer({
    directories: [directory],
    keys: [KEY],
    workerUrl: new URL('../../../dist/docs-worker.cjs', import.meta.url),
    name: 'judged',
    version: '0',
    log: () => undefined,
  })
  try {
    return { passages: passages.length, rows: await judged(passages, server) }
  } finally {
    await server.close()
  }
}

async function judged(passages: Passages, server: DocsServer): Promise<readonly Row[]> {
  const systems = { parley: parley(server), substrings: substrings(passages), trigrams: trigrams(passages) }
  const rows: Row[] = []
  for (const group of ['english', 'chinese', 'mixed'] as const) {
    for (const half of ['tuning', 'held out'] as const) {
      const asked = queries().filter((query) => query.group === group && query.half === half)
      for (const system of ['parley', 'substrings', 'trigrams'] as const) {
        rows.push({ group, half, system, score: await judge(systems[system], asked) })
      }
    }
  }
  return rows
}

/** As a client asks that would rather have something than nothing. */
function parley({ url }: DocsServer): SearchSystem {
  return async (query) => {
    for (;;) {
      const found = await searchOverHttp(url, KEY, { query, mode: 'best', limit: 10 })
      if (found === undefined) throw new Error(`no answer to ${query}`)
      if (found.notice === undefined) return found.results
      // Not all of the passages are in the index yet.
      await sleep(200)
    }
  }
}
