/** What the server is compared with, over the very same passages: substring search, and SQLite's trigram index. */
import { DatabaseSync } from '@photostructure/sqlite'
import { load } from '../../../src/docs-search/index/collect/load.ts'
import { passagesOf } from '../../../src/docs-search/index/document/split-into-passages.ts'
import { walk } from '../../../src/docs-search/index/collect/walk.ts'
import type { Hit, SearchSystem } from './judge.ts'

interface Passage extends Hit {
  readonly text: string
}

export async function passagesIn(directory: string): Promise<readonly Passage[]> {
  const found = await walk(directory, { files: 10_000, bytes: 1_000_000_000 })
  const passages: Passage[] = []
  for (const file of found?.files ?? []) {
    const loaded = await load(file, () => Promise.reject(new Error('there are none')))
    if (!('outline' in loaded)) continue
    for (const { headingPath, text } of passagesOf(loaded.outline))
      passages.push({ file: file.file, headingPath, text })
  }
  return passages
}

/** Passages that contain every word somewhere, those with most of them first; where none does, those with any. */
export function substrings(passages: readonly Passage[]): SearchSystem {
  const folded = passages.map((passage) => ({ passage, text: passage.text.toLowerCase() }))
  return async (query) => {
    const words = query.toLowerCase().split(/\s+/)
    const counted = folded.map(({ passage, text }) => ({
      passage,
      counts: words.map((word) => text.split(word).length - 1),
    }))
    const all = counted.filter(({ counts }) => !counts.includes(0))
    const some = all.length > 0 ? all : counted.filter(({ counts }) => counts.some((count) => count > 0))
    return some.toSorted((a, b) => sum(b.counts) - sum(a.counts)).map(({ passage }) => passage)
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((a, b) => a + b, 0)
}

/** All words by BM25; where no passage has all, any. Words of fewer than three characters it cannot find. */
export function trigrams(passages: readonly Passage[]): SearchSystem {
  const database = new DatabaseSync(':memory:')
  database.exec(`CREATE VIRTUAL TABLE words USING fts5 (text, tokenize = 'trigram')`)
  const insert = database.prepare('INSERT INTO words (rowid, text) VALUES (?, ?)')
  for (const [id, { text }] of passages.entries()) insert.run(id, text)
  const sql = 'SELECT rowid AS id FROM words WHERE words MATCH ? ORDER BY bm25(words) LIMIT 10'
  const found = (expression: string) =>
    (database.prepare(sql).all(expression) as readonly { readonly id: number }[]).flatMap(
      ({ id }) => passages[id] ?? [],
    )
  return async (query) => {
    const words = query.split(/\s+/).map((word) => `"${word.replaceAll('"', '""')}"`)
    const all = found(words.join(' AND '))
    return all.length > 0 ? all : found(words.join(' OR '))
  }
}
