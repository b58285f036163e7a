/** The full-text index in SQLite: documents, their passages, and the words of those. */
import { randomBytes } from 'node:crypto'
import { DatabaseSync, type StatementSyncInstance } from '@photostructure/sqlite'
import { indexText, TOKENIZER } from '../../text/tokens.ts'
import type { Passage } from './passages.ts'
import type { Bonus, Plan } from './plan.ts'
import { BM25, ranked } from './ranking.ts'
import { simplified } from './simplify.ts'
import { stemText } from './stems.ts'

export interface NewDocument {
  readonly collection: number
  /** Relative to its directory, with `/`. */
  readonly file: string
  readonly uri: string
  readonly title: string
  readonly mimeType: string
  readonly bytes: number
  /** Changes whenever the file does. */
  readonly stamp: string
  readonly created: string
  readonly modified: string
  readonly passages: readonly Passage[]
}

export interface DocumentRow {
  readonly document: number
  readonly collection: number
  readonly name: string
  readonly file: string
  readonly uri: string
  readonly title: string
  readonly mimeType: string
  readonly bytes: number
  readonly created: string
  readonly modified: string
}

export interface PassageRow extends DocumentRow {
  readonly headingPath: string
  readonly line: number
  readonly text: string
  readonly rank: number
}

/**
 * `title` holds the titles that a passage stands under and its path, which are not part of it. The columns with stems hold
 * the same texts in another form, for English and for identifiers. `scope` holds one word that no text has: the collection.
 */
const SCHEMA = `
  CREATE TABLE state (epoch TEXT NOT NULL, generation INTEGER NOT NULL, complete INTEGER NOT NULL);
  CREATE TABLE collections (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
  CREATE TABLE documents (
    id INTEGER PRIMARY KEY, collection INTEGER NOT NULL, file TEXT NOT NULL, uri TEXT NOT NULL UNIQUE, title TEXT NOT NULL,
    mimeType TEXT NOT NULL, bytes INTEGER NOT NULL, stamp TEXT NOT NULL, created TEXT NOT NULL, modified TEXT NOT NULL
  );
  CREATE TABLE skipped (uri TEXT PRIMARY KEY, collection INTEGER NOT NULL, file TEXT NOT NULL, bytes INTEGER NOT NULL, stamp TEXT NOT NULL);
  CREATE INDEX documents_in ON documents (collection, uri);
  CREATE TABLE passages (
    id INTEGER PRIMARY KEY, document INTEGER NOT NULL, headingPath TEXT NOT NULL, line INTEGER NOT NULL, text TEXT NOT NULL
  );
  CREATE INDEX passages_of ON passages (document);
  CREATE VIRTUAL TABLE words USING fts5 (
    title, heading, text, titleStems, headingStems, stems, scope, tokenize = "${TOKENIZER}", content = '', contentless_delete = 1
  );
`

const CACHE = 'PRAGMA cache_size = -32768'
const TEMPORARY = `PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; ${CACHE}`
/** Held by one process; a crash of it, though not of the machine, loses no transaction, and neither ever leaves half of one. */
const LASTING = `PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; ${CACHE}`

/** Which passages, and of which collections. */
export interface Filter {
  /** Collections by number; null for all of them. */
  readonly scope: readonly number[] | null
  readonly updatedAfter?: string
}

interface Slice {
  readonly limit: number
  readonly offset: number
}

export type WantedPassages = Filter & Slice & Pick<Plan, 'expression' | 'bonuses'>

export interface WantedDocuments extends Filter, Slice {
  /** Full-text expressions, each of which must match somewhere in the document. */
  readonly all: readonly string[]
}

/** Of the tables and of what is written into them; an index of another version is made anew. */
export const SCHEMA_VERSION = 2

/** What is known of a file without looking at it: also of those that are no documents after all. */
export interface KnownFile {
  readonly uri: string
  readonly name: string
  readonly file: string
  readonly bytes: number
  readonly stamp: string
}

export type SkippedFile = Pick<NewDocument, 'uri' | 'collection' | 'file' | 'bytes' | 'stamp'>

interface State {
  readonly epoch: string
  readonly generation: number
  readonly complete: number
}

export class Database implements Disposable {
  readonly #db: InstanceType<typeof DatabaseSync>
  readonly #statements = new Map<string, StatementSyncInstance>()
  #state: State

  /** An empty name is a temporary file of SQLite's own: no name, no leftover, and no more memory than its cache. */
  constructor(file: string) {
    this.#db = new DatabaseSync(file)
    try {
      this.#db.exec(file === '' ? TEMPORARY : LASTING)
      if (this.version === 0) this.#create()
      this.#state = this.#sql('SELECT epoch, generation, complete FROM state').get() as State
    } catch (error) {
      this.#db.close()
      throw error
    }
  }

  /** All at once, so that a file that was cut short holds nothing instead of half of it. */
  #create(): void {
    const epoch = randomBytes(6).toString('base64url')
    const state = `INSERT INTO state VALUES ('${epoch}', 0, 0)`
    this.#db.exec(`BEGIN; ${SCHEMA}; ${state}; PRAGMA user_version = ${SCHEMA_VERSION}; COMMIT`)
  }

  get version(): number {
    return (this.#sql('PRAGMA user_version').get() as { readonly user_version: number }).user_version
  }

  /** Names this state of this index; no other one ever has the same name. */
  get generation(): string {
    return `${this.#state.epoch}.${this.#state.generation}`
  }

  /** Whether everything was looked through at least once, maybe by an earlier process. */
  get complete(): boolean {
    return this.#state.complete === 1
  }

  setComplete(): void {
    if (!this.complete) this.#inTransaction({ ...this.#state, complete: 1 }, () => undefined)
  }

  /** All of the changes, or none of them, whatever is killed; with them the generation becomes another one. */
  change(write: () => void): void {
    this.#inTransaction({ ...this.#state, generation: this.#state.generation + 1 }, write)
  }

  #inTransaction(state: State, write: () => void): void {
    this.#db.exec('BEGIN')
    try {
      write()
      this.#sql('UPDATE state SET generation = ?, complete = ?').run(state.generation, state.complete)
      this.#db.exec('COMMIT')
      this.#state = state
    } finally {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK')
    }
  }

  /** Every file that was read or skipped, as it was then. */
  known(): readonly KnownFile[] {
    const of = (table: string) =>
      `SELECT t.uri, c.name, t.file, t.bytes, t.stamp FROM ${table} t JOIN collections c ON c.id = t.collection`
    return this.#db.prepare(`${of('documents')} UNION ALL ${of('skipped')}`).all() as KnownFile[]
  }

  /** Remembers a file that is no document after all, so that it is read again only when it changes. */
  skip({ uri, collection, file, bytes, stamp }: SkippedFile): void {
    this.remove(uri)
    this.#sql('INSERT INTO skipped VALUES (?, ?, ?, ?, ?)').run(uri, collection, file, bytes, stamp)
  }

  /** The number of a collection, which it keeps. */
  collection(name: string): number {
    this.#sql('INSERT OR IGNORE INTO collections (name) VALUES (?)').run(name)
    return (this.#sql('SELECT id FROM collections WHERE name = ?').get(name) as { readonly id: number }).id
  }

  /** Whether nothing of any other collection is in the index. */
  holdsOnly(collections: readonly number[]): boolean {
    const holders = this.#sql(
      'SELECT id FROM collections WHERE EXISTS (SELECT 1 FROM documents WHERE collection = collections.id)',
    )
    return (holders.all() as readonly { id: number }[]).every(({ id }) => collections.includes(id))
  }

  /** Adds a document, or puts it in the place of the one with its uri, which keeps its id. */
  put(document: NewDocument): void {
    const { collection, file, uri, title, mimeType, bytes, stamp, created, modified } = document
    const values = [collection, file, uri, title, mimeType, bytes, stamp, created, modified]
    this.#sql('DELETE FROM skipped WHERE uri = ?').run(uri)
    const { id } = this.#sql(
      `INSERT INTO documents (collection, file, uri, title, mimeType, bytes, stamp, created, modified)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (uri) DO UPDATE SET
           title = excluded.title, bytes = excluded.bytes, stamp = excluded.stamp, modified = excluded.modified RETURNING id`,
    ).get(...values) as { readonly id: number }
    this.#removePassages(id)
    for (const passage of document.passages) this.#putPassage(id, document, passage)
  }

  /** Prepares each statement once. */
  #sql(text: string): StatementSyncInstance {
    const statement = this.#statements.get(text) ?? this.#db.prepare(text)
    this.#statements.set(text, statement)
    return statement
  }

  #putPassage(document: number, { title, file, collection }: NewDocument, passage: Passage): void {
    const { headingPath, line, text, heading, body } = passage
    const { lastInsertRowid } = this.#sql(
      'INSERT INTO passages (document, headingPath, line, text) VALUES (?, ?, ?, ?)',
    ).run(document, JSON.stringify(headingPath), line, text)
    const titles = [title, ...headingPath, file].join('\n\n')
    this.#sql(
      'INSERT INTO words (rowid, title, heading, text, titleStems, headingStems, stems, scope) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
    ).run(
      lastInsertRowid,
      indexText(simplified(titles)),
      indexText(simplified(heading)),
      indexText(simplified(body)),
      stemText(titles),
      stemText(heading),
      stemText(body),
      scopeWord(collection),
    )
  }

  remove(uri: string): void {
    const row = this.#sql('DELETE FROM documents WHERE uri = ? RETURNING id').get(uri) as { id: number } | undefined
    if (row !== undefined) this.#removePassages(row.id)
    this.#sql('DELETE FROM skipped WHERE uri = ?').run(uri)
  }

  /** One by one: asked for several at once, SQLite looks through all the words there are. */
  #removePassages(document: number): void {
    const rows = this.#sql('DELETE FROM passages WHERE document = ? RETURNING id').all(document)
    for (const { id } of rows as readonly { readonly id: number }[]) {
      this.#sql('DELETE FROM words WHERE rowid = ?').run(id)
    }
  }

  document(uri: string): DocumentRow | undefined {
    return this.#sql(
      `SELECT ${DOCUMENT} FROM documents d JOIN collections c ON c.id = d.collection WHERE d.uri = ?`,
    ).get(uri) as DocumentRow | undefined
  }

  /** In the order of their uris, from behind `after` on; `prefix` is how their file begins. */
  list(
    scope: readonly number[],
    { after, limit, prefix }: { after: string; limit: number; prefix: string },
  ): readonly DocumentRow[] {
    return this.#db
      .prepare(
        `SELECT ${DOCUMENT} FROM documents d JOIN collections c ON c.id = d.collection
         WHERE d.collection IN (${scope.map(Number).join(',')}) AND d.uri > ? AND substr(d.file, 1, length(?)) = ?
         ORDER BY d.uri LIMIT ?`,
      )
      .all(after, prefix, prefix, limit) as DocumentRow[]
  }

  countList(scope: readonly number[], prefix: string): number {
    return this.#count(
      `SELECT count(*) AS n FROM documents d
       WHERE d.collection IN (${scope.map(Number).join(',')}) AND substr(d.file, 1, length(?)) = ?`,
      [prefix, prefix],
    )
  }

  countPassages(wanted: Filter & Pick<Plan, 'expression'>): number {
    const { sql, values } = since(wanted)
    return this.#count(`SELECT count(*) AS n FROM words WHERE words MATCH ? ${sql}`, [
      within(wanted, wanted.expression),
      ...values,
    ])
  }

  passages(wanted: WantedPassages): readonly PassageRow[] {
    const expression = within(wanted, wanted.expression)
    const hits = ranked(this.#db, { ...wanted, expression, condition: since(wanted) })
    const rows = this.#sql(
      `SELECT ${COLUMNS} FROM (SELECT key AS place, value ->> 'id' AS id, value ->> 'rank' AS rank FROM json_each(?)) AS hit
       ${JOINED} ORDER BY hit.place`,
    )
    return rows.all(JSON.stringify(hits)) as PassageRow[]
  }

  /** Those of one document that match, in its order. They were written together, so their numbers are next to each other. */
  passagesOf(document: number, expression: string): readonly Pick<PassageRow, 'line' | 'text'>[] {
    return this.#sql(
      `SELECT p.line, p.text FROM words JOIN passages p ON p.id = words.rowid
       WHERE words MATCH ? AND words.rowid BETWEEN (SELECT min(id) FROM passages WHERE document = ?)
         AND (SELECT max(id) FROM passages WHERE document = ?) AND p.document = ? ORDER BY p.id`,
    ).all(expression, document, document, document) as Pick<PassageRow, 'line' | 'text'>[]
  }

  countDocuments(wanted: WantedDocuments): number {
    const { sql, values } = inDocuments(wanted)
    return this.#count(`SELECT count(*) AS n FROM (${sql})`, values)
  }

  /** A row for each document in which everything occurs, with the best of its passages. */
  documents(wanted: WantedDocuments): readonly PassageRow[] {
    const { sql, values } = inDocuments(wanted)
    const bonus = bonusOf(wanted.all.map((expression) => ({ expression, weight: 1 })))
    return this.#db
      .prepare(
        `WITH hit AS MATERIALIZED (
           SELECT rowid AS id, ${BM25} * (${bonus.sql}) AS rank FROM words WHERE words MATCH ?),
         best AS (
           SELECT p.id, min(hit.rank) AS rank FROM hit JOIN passages p ON p.id = hit.id
           WHERE p.document IN (${sql}) GROUP BY p.document)
         SELECT ${COLUMNS} FROM best AS hit ${JOINED} ORDER BY hit.rank, d.id LIMIT ? OFFSET ?`,
      )
      .all(
        ...bonus.values,
        within(wanted, wanted.all.join(' OR ')),
        ...values,
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

const DOCUMENT = `d.id AS document, d.collection, c.name, d.file, d.uri, d.title, d.mimeType, d.bytes, d.created, d.modified`
const COLUMNS = `${DOCUMENT}, p.headingPath, p.line, p.text, hit.rank`
const JOINED = `JOIN passages p ON p.id = hit.id JOIN documents d ON d.id = p.document
  JOIN collections c ON c.id = d.collection`

/** A private character keeps it apart from every word of a text. */
function scopeWord(collection: number): string {
  return `\u{e001}${collection}`
}

function within({ scope }: Filter, expression: string): string {
  if (scope === null) return expression
  const words = scope.map((collection) => `"${scopeWord(collection)}"`)
  return `(${expression}) AND scope : (${words.join(' OR ')})`
}

interface Clause {
  readonly sql: string
  readonly values: readonly string[]
}

function since({ updatedAfter }: Filter): Clause {
  if (updatedAfter === undefined) return { sql: '', values: [] }
  // Row by row: a list of rows would be asked for one by one, each time through the whole expression.
  const sql = `AND (SELECT d.modified FROM passages p JOIN documents d ON d.id = p.document WHERE p.id = words.rowid) > ?`
  return { sql, values: [updatedAfter] }
}

/** One and what the expressions add, for whatever matches them. */
function bonusOf(bonuses: readonly Bonus[]): Clause {
  const added = bonuses.map(({ weight }) => ` + ${weight} * (rowid IN (SELECT rowid FROM words WHERE words MATCH ?))`)
  return { sql: `1${added.join('')}`, values: bonuses.map(({ expression }) => expression) }
}

/** The documents in which each expression occurs. */
function inDocuments(wanted: WantedDocuments): Clause {
  const { sql, values } = since(wanted)
  const one = `SELECT DISTINCT document FROM passages WHERE id IN (SELECT rowid FROM words WHERE words MATCH ? ${sql})`
  return {
    sql: wanted.all.map(() => one).join(' INTERSECT '),
    values: wanted.all.flatMap((expression) => [within(wanted, expression), ...values]),
  }
}
