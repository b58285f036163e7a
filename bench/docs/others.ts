/** What the server is compared with: a plain FTS5 table of whole documents, and ripgrep, which has no index. */
import { spawnSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { fileOf } from './corpus.ts'
import type { Question } from './questions.ts'

const DOCUMENTS_PER_CHANGE = 500

export interface PlainIndex {
  readonly seconds: number
  readonly bytes: number
  /** Milliseconds. */
  readonly latency: (query: string) => number
  close(): void
}

/** As one writes it in an afternoon: SQLite's own tokenizer, the text in the table, BM25. */
export function plainIndex(directory: string, { documents, file }: { documents: number; file: string }): PlainIndex {
  const began = performance.now()
  const database = new DatabaseSync(file)
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -32768')
  database.exec('CREATE VIRTUAL TABLE documents USING fts5 (file, text)')
  const insert = database.prepare('INSERT INTO documents VALUES (?, ?)')
  for (let from = 0; from < documents; from += DOCUMENTS_PER_CHANGE) {
    database.exec('BEGIN')
    for (let i = from; i < Math.min(documents, from + DOCUMENTS_PER_CHANGE); i++) {
      insert.run(fileOf(i), readFileSync(join(directory, fileOf(i)), 'utf8'))
    }
    database.exec('COMMIT')
  }
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  const seconds = (performance.now() - began) / 1_000
  const find = database.prepare(
    `SELECT file, snippet(documents, 1, '', '', '', 32) FROM documents WHERE documents MATCH ? ORDER BY rank LIMIT 10`,
  )
  return {
    seconds,
    bytes: statSync(file).size,
    latency: (query) => timed(() => find.all(quoted(query))),
    close: () => database.close(),
  }
}

function quoted(query: string): string {
  return query
    .split(' ')
    .map((word) => `"${word}"`)
    .join(' ')
}

/** Undefined where it is not installed. It finds files that have the first word. */
export function ripgrep(directory: string): ((question: Question) => number) | undefined {
  if (spawnSync('rg', ['--version']).status !== 0) return undefined
  return ({ query }) =>
    timed(() => spawnSync('rg', ['-ilF', '--', query.split(' ')[0] ?? '', directory], { maxBuffer: 1 << 28 }))
}

function timed(step: () => unknown): number {
  const began = performance.now()
  step()
  return performance.now() - began
}
