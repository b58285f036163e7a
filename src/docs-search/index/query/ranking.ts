/** Ranks passages in two steps: all matches by BM25, then the best of them again by further signals. */
import type { Database } from '../../../sqlite/database.ts'
import type { Bonus } from './plan.ts'

/** How much a word counts in the titles above, in a heading of the passage, and in its text; then the same for its stem. */
export const BM25 = 'bm25(words, 2.0, 4.0, 1.0, 2.0, 4.0, 1.0, 0.0)'

/**
 * So many are ranked again. The second step looks through everything that matches each of its expressions, and holds only
 * what is among these: an index of ten times the size costs ten times the looking, and no more of the holding.
 */
export const RERANKED_PASSAGES = 300

export interface Ranked {
  readonly id: number
  /** SQLite's: negative, and the smaller the better. */
  readonly rank: number
}

export interface RankRequest {
  readonly expression: string
  readonly bonuses: readonly Bonus[]
  /** A condition on `words.rowid`, beginning with AND, and its values. */
  readonly condition: { readonly sql: string; readonly values: readonly string[] }
  readonly limit: number
  readonly offset: number
}

export function ranked(
  db: Database,
  { expression, bonuses, condition, limit, offset }: RankRequest,
): readonly Ranked[] {
  const { sql, values } = condition
  const best = db
    .prepare(`SELECT rowid AS id, ${BM25} AS rank FROM words WHERE words MATCH ? ${sql} ORDER BY rank, id LIMIT ?`)
    .all(expression, ...values, Math.max(RERANKED_PASSAGES, offset + limit)) as Ranked[]
  return [...reranked(db, best.slice(0, RERANKED_PASSAGES), bonuses), ...best.slice(RERANKED_PASSAGES)].slice(
    offset,
    offset + limit,
  )
}

function reranked(db: Database, best: readonly Ranked[], bonuses: readonly Bonus[]): readonly Ranked[] {
  const factors = new Map(best.map(({ id }) => [id, 1]))
  const ids = JSON.stringify([...factors.keys()])
  // The plus keeps SQLite from asking the full-text index for each of them in turn, which takes a hundred times as long.
  const among = db.prepare(
    'SELECT rowid AS id FROM words WHERE words MATCH ? AND +rowid IN (SELECT value FROM json_each(?))',
  )
  for (const bonus of best.length > 1 ? bonuses : []) {
    for (const { id } of among.all(bonus.expression, ids) as readonly Pick<Ranked, 'id'>[]) {
      factors.set(id, (factors.get(id) ?? 1) + bonus.weight)
    }
  }
  return best
    .map(({ id, rank }) => ({ id, rank: rank * (factors.get(id) ?? 1) }))
    .sort((one, other) => one.rank - other.rank || one.id - other.id)
}
