/** Writes the full-text index in SQLite: documents, their passages, and the words of those. */
import { randomBytes } from 'node:crypto'
import { type Database, type Statement, openDatabase } from '../../../sqlite/database.ts'
import { indexText, TOKENIZER } from '../../../text/tokens.ts'
import type { Passage } from '../document/split-into-passages.ts'
import { simplified } from '../query/traditional-to-simplified.ts'
import { stemText } from '../query/stems.ts'

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
  CREATE TABLE passages (id INTEGER PRIMARY KEY, document INTEGER NOT NULL);
  CREATE TABLE texts (id INTEGER PRIMARY KEY, headingPath TEXT NOT NULL, line INTEGER NOT NULL, text TEXT NOT NULL);
  CREATE INDEX passages_of ON passages (document);
  CREATE VIRTUAL TABLE words USING fts5 (
    title, heading, text, titleStems, headingStems, stems, scope, tokenize = "${TOKENIZER}", content = '', contentless_delete = 1
  );
`

/**
 * Readers have connections of their own, which see what was committed and wait for nothing. A crash of the process, though
 * not of the machine, loses no transaction, and neither ever leaves half of one. The log is taken over rarely: while many
 * documents are read, most of its pages are written again soon.
 */
const PRAGMAS = `PRAGMA journal_mode = WAL; PRAGMA cache_size = -32768; PRAGMA wal_autocheckpoint = 8000;
  PRAGMA journal_size_limit = 33554432`
const LASTING = `${PRAGMAS}; PRAGMA synchronous = NORMAL`
const TEMPORARY = `${PRAGMAS}; PRAGMA synchronous = OFF`

/** The version of the tables and of the text in them. An index of another version is rebuilt. */
export const SCHEMA_VERSION = 3

/** The recorded version of a file, also of files that turned out not to be documents. */
export interface KnownFile {
  readonly uri: string
  readonly name: string
  readonly stamp: string
}

export type SkippedFile = Pick<NewDocument, 'uri' | 'collection' | 'file' | 'bytes' | 'stamp'>

interface State {
  readonly epoch: string
  readonly generation: number
  readonly complete: number
}

interface Titles {
  readonly text: string
  readonly words: string
  readonly stems: string
}

export class IndexWriter implements Disposable {
  readonly #db: Database
  readonly #statements = new Map<string, Statement>()
  #state: State
  #last: Titles | undefined

  constructor(file: string, { lasting }: { readonly lasting: boolean }) {
    this.#db = openDatabase(file)
    try {
      this.#db.exec(lasting ? LASTING : TEMPORARY)
      if (this.version === 0) this.#create()
      this.#state = this.#sql('SELECT epoch, generation, complete FROM state').get() as State
    } catch (error) {
      this.#db.close()
      throw error
    }
  }

  /** In one transaction, so that a file whose creation was interrupted is empty instead of half made. */
  #create(): void {
    const epoch = randomBytes(6).toString('base64url')
    const state = `INSERT INTO state VALUES ('${epoch}', 0, 0)`
    this.#db.exec(`BEGIN; ${SCHEMA}; ${state}; PRAGMA user_version = ${SCHEMA_VERSION}; COMMIT`)
  }

  get version(): number {
    return (this.#sql('PRAGMA user_version').get() as { readonly user_version: number }).user_version
  }

  /** Whether everything was looked through at least once, maybe by an earlier process. */
  get complete(): boolean {
    return this.#state.complete === 1
  }

  setComplete(): void {
    if (!this.complete) this.#inTransaction({ ...this.#state, complete: 1 }, () => undefined)
  }

  /** Commits all of the changes or none of them, also when the process is killed, and gives the index a new generation. */
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
      `SELECT t.uri, c.name, t.stamp FROM ${table} t JOIN collections c ON c.id = t.collection`
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
  #sql(text: string): Statement {
    const statement = this.#statements.get(text) ?? this.#db.prepare(text)
    this.#statements.set(text, statement)
    return statement
  }

  #putPassage(document: number, { title, file, collection }: NewDocument, passage: Passage): void {
    const { headingPath, line, text, heading, body } = passage
    const { lastInsertRowid: id } = this.#sql('INSERT INTO passages (document) VALUES (?)').run(document)
    this.#sql('INSERT INTO texts VALUES (?, ?, ?, ?)').run(id, JSON.stringify(headingPath), line, text)
    const titles = this.#titles([title, ...headingPath, file].join('\n\n'))
    this.#sql(
      'INSERT INTO words (rowid, title, heading, text, titleStems, headingStems, stems, scope) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
    ).run(
      id,
      titles.words,
      indexText(simplified(heading)),
      indexText(simplified(body)),
      titles.stems,
      stemText(heading),
      stemText(body),
      scopeWord(collection),
    )
  }

  /** The passages of a section stand under the same titles. */
  #titles(text: string): Titles {
    if (this.#last?.text !== text) this.#last = { text, words: indexText(simplified(text)), stems: stemText(text) }
    return this.#last
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
      this.#sql('DELETE FROM texts WHERE id = ?').run(id)
    }
  }

  [Symbol.dispose](): void {
    this.#db.close()
  }
}

/** A private character keeps it apart from every word of a text. */
export function scopeWord(collection: number): string {
  return `\u{e001}${collection}`
}
