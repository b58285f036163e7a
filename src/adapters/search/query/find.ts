/** Finds passages in the index, the newest first. */
import { type QueryPart, allOf, parseQuery } from '../../../text/query.ts'
import type { Speaker, SearchHit, SearchRequest, StoredHead } from '../../../ports/search.ts'
import { passageText } from '../store/write-passages.ts'
import { snippetOf } from './snippet.ts'
import type { SearchSource } from '../store/source.ts'
import { type Statements, escapeText, unescapeText } from '../../../sqlite/statements.ts'

/** How many of the passages that came last are put in the order of their time; others follow none of them. */
const SORTED = 2_000

export interface FoundPassages {
  readonly hits: readonly SearchHit[]
  readonly more: boolean
}

interface Match {
  readonly id: number
}

interface HitRow {
  readonly key: number
  readonly sessionId: string
  readonly name: string
  readonly saidBy: Speaker
  readonly turn: string | null
  readonly seq: number
  readonly until: number
  readonly at: number
  readonly title: string | null
  readonly text: string
}

type FindQuery = Pick<SearchRequest, 'query' | 'cwd' | 'within' | 'limit'>

/** A query without a word finds nothing. */
export function find(statements: Statements, source: SearchSource, asked: FindQuery): FoundPassages {
  const { query, limit } = asked
  const parts = parseQuery(query)
  const hits: SearchHit[] = []
  if (parts.length === 0) return { hits, more: false }
  const seen = new Set<string>()
  for (const { id } of matches(statements, allOf(parts), asked)) {
    const row = statements.get(ROW, id) as HitRow | undefined
    const head = row === undefined ? undefined : source.head(unescapeText(row.sessionId))
    // Deleted since, or another piece of the same message.
    if (row === undefined || head?.key !== row.key || seen.has(`${row.key} ${row.name}`)) continue
    if (hits.length === limit) return { hits, more: true }
    seen.add(`${row.key} ${row.name}`)
    hits.push(hitOf(row, head, parts))
  }
  return { hits, more: false }
}

const ROW = `SELECT s.key, s.id AS sessionId, p.name, p.said_by AS saidBy, p.turn, p.seq, p.until, p.at, p.title, p.text
  FROM passages p JOIN sessions s ON s.key = p.session WHERE p.id = ?`

/** Deleted sessions have no row any more, whether or not their passages have been removed. */
function matches(statements: Statements, expression: string, asked: FindQuery): readonly Match[] {
  const conditions = conditionsOf(asked)
  const sql = `SELECT id FROM (
      SELECT w.rowid AS id, p.at AS at FROM words w CROSS JOIN passages p ON p.id = w.rowid CROSS JOIN sessions s ON s.key = p.session
      WHERE words MATCH ? ${conditions.map(([text]) => `AND ${text}`).join(' ')} ORDER BY w.rowid DESC LIMIT ${SORTED}
    ) ORDER BY at DESC, id DESC`
  return statements.all(sql, expression, ...conditions.map(([, value]) => value)) as readonly Match[]
}

const BELOW = `EXISTS (SELECT 1 FROM json_each(?) d
  WHERE substr(s.cwd || '/', 1, length(rtrim(d.value, '/')) + 1) = rtrim(d.value, '/') || '/')`

/** Each with the value of its question mark. */
function conditionsOf({ cwd, within }: FindQuery): readonly (readonly [text: string, value: string])[] {
  const list = (texts: readonly string[]): string => JSON.stringify(texts.map(escapeText))
  return [
    ...(cwd === undefined ? [] : [['s.cwd = ?', escapeText(cwd)] as const]),
    ...(within === undefined
      ? []
      : 'sessions' in within
        ? [['s.id IN (SELECT value FROM json_each(?))', list(within.sessions)] as const]
        : [[BELOW, list(within.directories)] as const]),
  ]
}

function hitOf(row: HitRow, head: StoredHead, parts: readonly QueryPart[]): SearchHit {
  const { saidBy: by, turn, seq, until, at } = row
  const title = row.title === null ? null : unescapeText(row.title)
  return {
    sessionId: head.id,
    cwd: head.cwd,
    title: head.title,
    by,
    turn,
    seq,
    until,
    at,
    ...snippetOf(passageText(title, unescapeText(row.text)), parts),
  }
}
