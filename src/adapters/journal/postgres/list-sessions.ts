/** The list of the sessions of one database: the newest first, page by page. */
import type { ListQuery, SessionSummary } from '../../../ports/journal.ts'
import { isListed } from '../journal-base.ts'
import type { Shard } from './shard.ts'
import { texts } from './tables/arrays.ts'
import { type HeadColumns, storedSession, touchedOf } from './tables/rows.ts'
import { escapeText } from './tables/text.ts'

const PAGE_ROWS = 200

export async function listSessions(shard: Shard, query: ListQuery): Promise<readonly SessionSummary[]> {
  const listed: SessionSummary[] = []
  let { after } = query
  while (listed.length < query.limit) {
    const rows = await pageOf(shard, { ...query, ...(after !== undefined && { after }) })
    for (const row of rows) if (isListed(row, query) && listed.length < query.limit) listed.push(row)
    after = rows.at(-1)
    if (rows.length < PAGE_ROWS) break
  }
  return listed
}

async function pageOf(shard: Shard, { cwd, phases, after }: ListQuery): Promise<readonly SessionSummary[]> {
  const isOpen = phases?.every((phase) => phase !== 'idle' && phase !== 'closed') === true
  const filter = `${cwd === undefined ? '' : 'c'}${phases === undefined ? '' : 'p'}${isOpen ? 'o' : ''}${after === undefined ? '' : 'a'}`
  const { rows } = await shard.read(shard.statements.list(filter), [
    PAGE_ROWS,
    cwd === undefined ? null : escapeText(cwd),
    phases === undefined ? null : texts(phases),
    after === undefined ? null : touchedOf(after.updatedAt),
    after?.updatedAt ?? null,
    after === undefined ? null : escapeText(after.id),
  ])
  return rows.map((columns) => storedSession(columns as unknown as HeadColumns).row)
}
