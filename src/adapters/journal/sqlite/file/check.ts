/** Whether a journal is whole: the file as SQLite sees it, and each session's entries without a hole. */
import { type Statements, unescapeText } from '../../../../sqlite/statements.ts'

/** More of them say no more. */
const MAX_FINDINGS = 20

/** A sentence for each thing that is wrong. Reads everything, changes nothing. */
export function checkJournal(statements: Statements): readonly string[] {
  const file = statements.prepare(`PRAGMA quick_check(${MAX_FINDINGS})`).all() as readonly (readonly [string])[]
  const damage = file.map(([line]) => line).filter((line) => line !== 'ok')
  return damage.length > 0 ? damage : [...holes(statements), ...ends(statements)]
}

/** A row that does not begin where the one before it ends. */
function holes(statements: Statements): readonly string[] {
  const rows = statements
    .prepare(
      `SELECT s.id, e.before, e.seq - e.count FROM (
         SELECT session, seq, count, lag(seq, 1, 0) OVER (PARTITION BY session ORDER BY seq) AS before FROM entries
       ) e JOIN sessions s ON s.key = e.session WHERE e.before <> e.seq - e.count LIMIT ${MAX_FINDINGS}`,
    )
    .all() as readonly (readonly [id: string, before: number, begins: number])[]
  return rows.map(([id, before, begins]) => `session ${unescapeText(id)} goes from entry ${before} to ${begins + 1}`)
}

/** A session that says of itself what its entries do not. The row of one that works may be older than its last entries. */
function ends(statements: Statements): readonly string[] {
  const rows = statements
    .prepare(
      `SELECT s.id, s.last_seq, coalesce((SELECT max(e.seq) FROM entries e WHERE e.session = s.key), 0) AS last
       FROM sessions s WHERE s.last_seq > last OR (s.last_seq < last AND s.phase <> 'working') LIMIT ${MAX_FINDINGS}`,
    )
    .all() as readonly (readonly [id: string, said: number, last: number])[]
  return rows.map(([id, said, last]) => `session ${unescapeText(id)} has ${last} entries and says ${said}`)
}
