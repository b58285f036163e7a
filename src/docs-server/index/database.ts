/** The full-text index in SQLite: documents, their passages, and the words of those. It lives as long as its process. */
import { DatabaseSync, type StatementSyncInstance } from '@photostructure/sqlite'
import { indexText, TOKENIZER } from '../../text/tokens.ts'
import type { Passage } from './passages.ts'

export interface NewDocument {
  readonly directory: number
  /** Relative to its directory, with `/`. */
  readonly file: string
  readonly uri: string
  readonly title: string
  readonly created: string
  readonly modified: string
  readonly passages: readonly Passage[]
}

export interface PassageRow {
  readonly document: number
  readonly directory: number
  readonly file: string
  readonly uri: string
  readonly title: string
  readonly created: string
  readonly modified: string
  readonly headingPath: string
  readonly line: number
  readonly text: string
  readonly rank: number
}

/**
 * `title` holds the titles that a passage stands under. They are not part of it: a match there counts for its place among
 * the results, never for being one.
 */
const SCHEMA = `
  CREATE TABLE documents (
    id INTEGER PRIMARY KEY, directory INTEGER NOT NULL, file TEXT NOT NULL, uri TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL, created TEXT NOT NULL, modified TEXT NOT NULL
  );
  CREATE TABLE passages (
    id INTEGER PRIMARY KEY, document INTEGER NOT NULL, headingPath TEXT NOT NULL, line INTEGER NOT NULL, text TEXT NOT NULL
  );
  CREATE INDEX passages_of ON passages (document);
  CREATE VIRTUAL TABLE words USING fts5 (
    title, heading, text, tokenize = "${TOKENIZER}", content = '', contentless_delete = 1
  );
`

/** How much a word counts in the titles above, in a heading of the passage, and in its text. */
const RANK = 'bm25(words, 2.0, 4.0, 1.0)'
const OWN = '{heading text}'

export interface Wanted {
  /** Full-text expressions, each of which must match. */
  readonly all: readonly string[]
  /** All of them next to each other: what matches this comes first. */
  readonly phrase: string
  readonly limit: number
  readonly offset: number
}

export class Database implements Disposable {
  // An empty name is a temporary file of SQLite's own: no name, no leftover, and no more memory than its cache.
  readonly #db = new DatabaseSync('')
  readonly #statements = new Map<string, StatementSyncInstance>()

  constructor() {
    this.#db.exec(`PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA cache_size = -32768; ${SCHEMA}`)
  }

  /** All of the changes, or none of them. */
  change(write: () => void): void {
    this.#db.exec('BEGIN')
    try {
      write()
      this.#db.exec('COMMIT')
    } finally {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK')
    }
  }

  /** Adds a document, or puts it in the place of the one with its uri, which keeps its id. */
  put(document: NewDocument): void {
    const { directory, file, uri, title, created, modified } = document
    const values = [directory, file, uri, title, created, modified]
    const { id } = this.#sql(
      `INSERT INTO documents (directory, file, uri, title, created, modified) VALUES (?, ?, ?, ?, ?, ?)
         ON CONFLICT (uri) DO UPDATE SET title = excluded.title, modified = excluded.modified RETURNING id`,
    ).get(...values) as { readonly id: number }
    this.#removePassages(id)
    for (const passage of document.passages) this.#putPassage(id, title, passage)
  }

  /** Prepares each statement once. */
  #sql(text: string): StatementSyncInstance {
    const statement = this.#statements.get(text) ?? this.#db.prepare(text)
    this.#statements.set(text, statement)
    return statement
  }

  #putPassage(document: number, title: string, { headingPath, line, text, heading, body }: Passage): void {
    const { lastInsertRowid } = this.#sql(
      'INSERT INTO passages (document, headingPath, line, text) VALUES (?, ?, ?, ?)',
    ).run(document, JSON.stringify(headingPath), line, text)
    this.#sql('INSERT INTO words (rowid, title, heading, text) VALUES (?, ?, ?, ?)').run(
      lastInsertRowid,
      indexText([title, ...headingPath].join('\n\n')),
      indexText(heading),
      indexText(body),
    )
  }

  remove(uri: string): void {
    const row = this.#sql('DELETE FROM documents WHERE uri = ? RETURNING id').get(uri) as { id: number } | undefined
    if (row !== undefined) this.#removePassages(row.id)
  }

  #removePassages(document: number): void {
    this.#sql('DELETE FROM words WHERE rowid IN (SELECT id FROM passages WHERE document = ?)').run(document)
    this.#sql('DELETE FROM passages WHERE document = ?').run(document)
  }

  countPassages({ all }: Wanted): number {
    return this.#count('SELECT count(*) AS n FROM words WHERE words MATCH ?', [own(all.join(' AND '))])
  }

  passages(wanted: Wanted): readonly PassageRow[] {
    const everywhere = `${own(wanted.all.join(' AND '))} AND (${wanted.all.join(' OR ')})`
    return this.#db
      .prepare(
        `WITH hit AS MATERIALIZED (
           SELECT rowid AS id, ${RANK} AS rank, rowid IN (SELECT rowid FROM words WHERE words MATCH ?) AS phrase
           FROM words WHERE words MATCH ? ORDER BY phrase DESC, rank, id LIMIT ? OFFSET ?)
         SELECT ${COLUMNS} FROM hit JOIN passages p ON p.id = hit.id JOIN documents d ON d.id = p.document
         ORDER BY hit.phrase DESC, hit.rank, hit.id`,
      )
      .all(own(wanted.phrase), everywhere, wanted.limit, wanted.offset) as PassageRow[]
  }

  countDocuments({ all }: Wanted): number {
    return this.#count(`SELECT count(*) AS n FROM (${inDocuments(all)})`, all.map(own))
  }

  /** A row for each document in which everything occurs, with the best of its passages. */
  documents(wanted: Wanted): readonly PassageRow[] {
    return this.#db
      .prepare(
        `WITH hit AS MATERIALIZED (
           SELECT rowid AS id, ${RANK} AS rank, rowid IN (SELECT rowid FROM words WHERE words MATCH ?) AS phrase
           FROM words WHERE words MATCH ?),
         best AS (
           SELECT p.id, hit.rank, max(hit.phrase * 1000000 - hit.rank) AS worth FROM hit JOIN passages p ON p.id = hit.id
           WHERE p.document IN (${inDocuments(wanted.all)}) GROUP BY p.document)
         SELECT ${COLUMNS} FROM best AS hit JOIN passages p ON p.id = hit.id JOIN documents d ON d.id = p.document
         ORDER BY hit.worth DESC, d.id LIMIT ? OFFSET ?`,
      )
      .all(
        own(wanted.phrase),
        own(wanted.all.join(' OR ')),
        ...wanted.all.map(own),
        wanted.limit,
        wanted.offset,
      ) as PassageRow[]
  }

  #count(sql: string, values: readonly string[]): number {
    return (this.#db.prepare(sql).get(...values) as { readonly n: number }).n
  }

  [Symbol.dispose](): void {
    this.#db.close()
  }
}

const COLUMNS = `d.id AS document, d.directory, d.file, d.uri, d.title, d.created, d.modified,
  p.headingPath, p.line, p.text, hit.rank`

function own(expression: string): string {
  return `${OWN} : (${expression})`
}

/** One placeholder for each expression. */
function inDocuments(all: readonly string[]): string {
  const one = 'SELECT DISTINCT document FROM passages WHERE id IN (SELECT rowid FROM words WHERE words MATCH ?)'
  return all.map(() => one).join(' INTERSECT ')
}
