/** Reads the index through a connection of its own, so that queries do not wait for writes. */
import { type Database, type Statement, openDatabase } from '../../../sqlite/database.ts'
import { type NewDocument, scopeWord } from './index-writer.ts'
import type { Plan } from '../query/plan.ts'
import { BM25, type Ranked, ranked } from '../query/ranking.ts'

/** As it was stored, but for its text. */
export interface DocumentRow extends Omit<NewDocument, 'passages'> {
  readonly document: number
  /** Of its collection. */
  readonly name: string
}

export interface PassageRow extends DocumentRow {
  readonly headingPath: string
  readonly line: number
  readonly text: string
  readonly rank: number
}

/** Which passages, and of which collections. */
export interface PassageFilter {
  /** Collections by number; null for all of them. */
  readonly scope: readonly number[] | null
  readonly updatedAfter?: string
  /** Documents by number that the asker may not see. */
  readonly hidden: readonly number[]
}

export interface DocumentPlace {
  readonly document: number
  readonly collection: number
  readonly file: string
}

/** Which documents a list is of; `prefix` is how their file begins. */
type ListFilter = Pick<PassageFilter, 'hidden'> & { readonly scope: readonly number[]; readonly prefix: string }

interface Slice {
  readonly limit: number
  readonly offset: number
}

export type WantedPassages = PassageFilter & Slice & Pick<Plan, 'expression' | 'bonuses'>

export interface WantedDocuments extends PassageFilter, Slice {
  /** Full-text expressions, each of which must match somewhere in the document. */
  readonly all: readonly string[]
}

export interface FoundDocuments {
  readonly total: number
  readonly rows: readonly PassageRow[]
}

interface State {
  readonly epoch: string
  readonly generation: number
  readonly complete: number
}

const CACHE = 'PRAGMA cache_size = -32768'

export class IndexReader implements Disposable {
  readonly #db: Database
  readonly #statements = new Map<string, Statement>()

  constructor(file: string) {
    this.#db = openDatabase(file, { readOnly: true })
    this.#db.exec(CACHE)
    // The first reading opens the files; a temporary index has no names from then on.
    void this.complete
  }

  /** `read` sees one state of the index, even if the writer commits meanwhile. */
  snapshot<Result>(read: () => Result): Result {
    this.#db.exec('BEGIN')
    try {
      return read()
    } finally {
      this.#db.exec('COMMIT')
    }
  }

  /** Names this state of this index; no other one ever has the same name. */
  get generation(): string {
    const { epoch, generation } = this.#state
    return `${epoch}.${generation}`
  }

  /** Whether everything was looked through at least once, maybe by an earlier process. */
  get complete(): boolean {
    return this.#state.complete === 1
  }

  get #state(): State {
    return this.#sql('SELECT epoch, generation, complete FROM state').get() as State
  }

  /** Whether nothing of any other collection is in the index. */
  holdsOnly(collections: readonly number[]): boolean {
    const holders = this.#sql(
      'SELECT id FROM collections WHERE EXISTS (SELECT 1 FROM documents WHERE collection = collections.id)',
    )
    return (holders.all() as readonly { id: number }[]).every(({ id }) => collections.includes(id))
  }

  document(uri: string): DocumentRow | undefined {
    return this.#sql(
      `SELECT ${DOCUMENT} FROM documents d JOIN collections c ON c.id = d.collection WHERE d.uri = ?`,
    ).get(uri) as DocumentRow | undefined
  }

  /** Where the documents of these collections are. */
  places(scope: readonly number[]): readonly DocumentPlace[] {
    const rows = this.#db.prepare(
      `SELECT id AS document, collection, file FROM documents WHERE collection IN (${scope.map(Number).join(',')})`,
    )
    return rows.all() as DocumentPlace[]
  }

  /** In the order of their uris, from behind `after` on. */
  list(listed: ListFilter & { readonly after: string; readonly limit: number }): readonly DocumentRow[] {
    const { sql, values } = inList(listed)
    return this.#db
      .prepare(
        `SELECT ${DOCUMENT} FROM documents d JOIN collections c ON c.id = d.collection
         WHERE ${sql} AND d.uri > ? ORDER BY d.uri LIMIT ?`,
      )
      .all(...values, listed.after, listed.limit) as DocumentRow[]
  }

  countList(listed: ListFilter): number {
    const { sql, values } = inList(listed)
    return this.#count(`SELECT count(*) AS n FROM documents d WHERE ${sql}`, values)
  }

  countPassages(wanted: PassageFilter & Pick<Plan, 'expression'>): number {
    const { sql, values } = visible(wanted)
    return this.#count(`SELECT count(*) AS n FROM words WHERE words MATCH ? ${sql}`, [
      within(wanted, wanted.expression),
      ...values,
    ])
  }

  /** The best first: their numbers and ranks, `from` there on. */
  ranked(wanted: WantedPassages): readonly Ranked[] {
    const expression = within(wanted, wanted.expression)
    return ranked(this.#db, { ...wanted, expression, condition: visible(wanted) })
  }

  passages(hits: readonly Ranked[]): readonly PassageRow[] {
    const rows = this.#sql(
      `SELECT ${COLUMNS} FROM (SELECT key AS place, value ->> 'id' AS id, value ->> 'rank' AS rank FROM json_each(?)) AS hit
       ${JOINED} ORDER BY hit.place`,
    )
    return rows.all(JSON.stringify(hits)) as PassageRow[]
  }

  /** Those of one document that match, in its order. They were written together, so their numbers are next to each other. */
  passagesOf(document: number, expression: string): readonly Pick<PassageRow, 'line' | 'text'>[] {
    return this.#sql(
      `SELECT t.line, t.text FROM words JOIN passages p ON p.id = words.rowid JOIN texts t ON t.id = p.id
       WHERE words MATCH ? AND words.rowid BETWEEN (SELECT min(id) FROM passages WHERE document = ?)
         AND (SELECT max(id) FROM passages WHERE document = ?) AND p.document = ? ORDER BY p.id`,
    ).all(expression, document, document, document) as Pick<PassageRow, 'line' | 'text'>[]
  }

  /**
   * A row for each document in which all terms occur, with the best of its passages. The places of the terms are looked up
   * once, and only passages of such documents are ranked: ranking costs ten times as much as finding.
   */
  documents(wanted: WantedDocuments): FoundDocuments {
    const { all, limit, offset } = wanted
    const { sql, values } = visible(wanted)
    const one = (_: string, term: number) =>
      `SELECT rowid AS id, (SELECT document FROM passages WHERE id = words.rowid) AS document, ${term} AS term
       FROM words WHERE words MATCH ? ${sql}`
    const rows = this.#sql(
      `WITH place AS MATERIALIZED (${all.map(one).join(' UNION ALL ')}),
       whole AS MATERIALIZED (SELECT document FROM place GROUP BY document HAVING count(DISTINCT term) = ${all.length}),
       passage AS MATERIALIZED (
         SELECT id, document, count(*) AS terms FROM place WHERE document IN (SELECT document FROM whole) GROUP BY id),
       hit AS MATERIALIZED (
         SELECT p.id, p.document, ${BM25} * (1 + p.terms) AS rank
         FROM words CROSS JOIN passage p ON p.id = words.rowid WHERE words MATCH ?),
       best AS (SELECT id, document, min(rank) AS rank FROM hit GROUP BY document)
       SELECT id, rank, count(*) OVER () AS total FROM best ORDER BY rank, document LIMIT ? OFFSET ?`,
    )
    const found = rows.all(
      ...all.flatMap((expression) => [within(wanted, expression), ...values]),
      within(wanted, all.join(' OR ')),
      limit,
      offset,
    ) as (Ranked & { readonly total: number })[]
    // Behind the last page no row holds the total.
    const total = found[0]?.total ?? (offset > 0 ? this.documents({ ...wanted, offset: 0, limit: 1 }).total : 0)
    return { total, rows: this.passages(found) }
  }

  #count(sql: string, values: readonly string[]): number {
    return (this.#sql(sql).get(...values) as { readonly n: number }).n
  }

  /** Prepares each statement once. */
  #sql(text: string): Statement {
    const statement = this.#statements.get(text) ?? this.#db.prepare(text)
    this.#statements.set(text, statement)
    return statement
  }

  [Symbol.dispose](): void {
    this.#db.close()
  }
}

const DOCUMENT = `d.id AS document, d.collection, c.name, d.file, d.uri, d.title, d.mimeType, d.bytes, d.stamp, d.created, d.modified`
const COLUMNS = `${DOCUMENT}, t.headingPath, t.line, t.text, hit.rank`
const JOINED = `JOIN passages p ON p.id = hit.id JOIN texts t ON t.id = p.id JOIN documents d ON d.id = p.document
  JOIN collections c ON c.id = d.collection`

function within({ scope }: PassageFilter, expression: string): string {
  if (scope === null) return expression
  const words = scope.map((collection) => `"${scopeWord(collection)}"`)
  return `(${expression}) AND scope : (${words.join(' OR ')})`
}

interface Clause {
  readonly sql: string
  readonly values: readonly string[]
}

/** A passage of a document that the asker may see, and that is new enough. */
function visible({ updatedAfter, hidden }: PassageFilter): Clause {
  // Row by row: a list of rows would be asked for one by one, each time through the whole expression.
  const document = '(SELECT document FROM passages WHERE id = words.rowid)'
  const since = `AND (SELECT d.modified FROM passages p JOIN documents d ON d.id = p.document WHERE p.id = words.rowid) > ?`
  const clauses: readonly Clause[] = [
    ...(hidden.length === 0 ? [] : [{ sql: `AND ${document} NOT IN ${IN_JSON}`, values: [JSON.stringify(hidden)] }]),
    ...(updatedAfter === undefined ? [] : [{ sql: since, values: [updatedAfter] }]),
  ]
  return { sql: clauses.map(({ sql }) => sql).join(' '), values: clauses.flatMap(({ values }) => values) }
}

const IN_JSON = '(SELECT value FROM json_each(?))'

function inList({ scope, hidden, prefix }: ListFilter): Clause {
  const collections = scope.map(Number).join(',')
  return {
    sql: `d.collection IN (${collections}) AND d.id NOT IN ${IN_JSON} AND substr(d.file, 1, length(?)) = ?`,
    values: [JSON.stringify(hidden), prefix, prefix],
  }
}
