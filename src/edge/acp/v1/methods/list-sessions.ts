/** `session/list`: one page of the sessions, newest first, and the cursor of the next page. */
import { isAbsolute } from 'node:path'
import { fail } from '../../../../errors/parley-error.ts'
import type { ListKey, SessionSummary } from '../../../../ports/journal.ts'
import type { SessionDirectory } from '../../../../session/handle.ts'
import type { Parsed } from './params.ts'

const PAGE_SIZE = 50

/** A session as `session/list` shows it. */
export interface SessionInfo {
  readonly sessionId: string
  readonly cwd: string
  readonly additionalDirectories?: readonly string[]
  readonly title?: string
  /** ISO 8601. */
  readonly updatedAt: string
}

export async function listSessions(sessions: SessionDirectory, { cwd, cursor }: Parsed<'session/list'>) {
  if (typeof cwd === 'string' && !isAbsolute(cwd)) fail('PATH_NOT_ABSOLUTE', { what: 'cwd', path: cwd })
  const rows = await sessions.list({
    // One more than a page, to know whether there is another page.
    limit: PAGE_SIZE + 1,
    ...(cwd === undefined || cwd === null ? {} : { cwd }),
    ...(cursor === undefined || cursor === null ? {} : { after: decodeCursor(cursor) }),
  })
  const page = rows.slice(0, PAGE_SIZE)
  const last = rows.length > PAGE_SIZE ? page.at(-1) : undefined
  return { result: { sessions: page.map(sessionInfo), ...(last && { nextCursor: encodeCursor(last) }) } }
}

export function sessionInfo({ id, cwd, additionalDirectories, title, updatedAt }: SessionSummary): SessionInfo {
  return {
    sessionId: id,
    cwd,
    ...(additionalDirectories.length === 0 ? {} : { additionalDirectories }),
    ...(title === null ? {} : { title }),
    updatedAt: new Date(updatedAt).toISOString(),
  }
}

/** The last session of a page, as an opaque text that only this server reads. */
function encodeCursor({ updatedAt, id }: SessionSummary): string {
  return Buffer.from(JSON.stringify([updatedAt, id])).toString('base64url')
}

/** Throws CURSOR_INVALID. */
function decodeCursor(cursor: string): ListKey {
  try {
    const [updatedAt, id] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[]
    if (typeof updatedAt === 'number' && typeof id === 'string') return { updatedAt, id }
  } catch {
    // Not a cursor of ours: refused like one that parses to something else.
  }
  return fail('CURSOR_INVALID', { cursor: cursor.slice(0, 64) })
}
