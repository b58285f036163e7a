/** `session/list`: one page of the sessions, newest first, and where the next one begins. */
import type { SessionRegistry } from '../../../../session/registry.ts'
import { decodeCursor, encodeCursor } from './page-cursor.ts'
import { requireAbsolutePath } from './directories.ts'
import type { Parsed } from './params.ts'
import { sessionInfo } from './session-info.ts'

const LIST_PAGE = 50

export async function list(sessions: SessionRegistry, { cwd, cursor }: Parsed<'session/list'>) {
  if (cwd !== undefined && cwd !== null) requireAbsolutePath('cwd', cwd)
  const rows = await sessions.list({
    // One more says whether there is another page.
    limit: LIST_PAGE + 1,
    ...(cwd === undefined || cwd === null ? {} : { cwd }),
    ...(cursor === undefined || cursor === null ? {} : { after: decodeCursor(cursor) }),
  })
  const page = rows.slice(0, LIST_PAGE)
  const last = rows.length > LIST_PAGE ? page.at(-1) : undefined
  return { result: { sessions: page.map(sessionInfo), ...(last && { nextCursor: encodeCursor(last) }) } }
}
