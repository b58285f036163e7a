/** `session/list`: one page of the sessions, newest first, and the cursor of the next page. */
import { isAbsolute } from 'node:path'
import { fail } from '../../../../errors/parley-error.ts'
import type { ListKey, ListQuery, SessionStanding, SessionSummary, WaitingQuestion } from '../../../../ports/journal.ts'
import type { SessionDirectory } from '../../../../session/handle.ts'
import type { Parsed } from '../methods/params.ts'

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

/** What our own clients get of a session besides. In `session/list` it stands in `_meta`. */
export interface SessionDetails {
  readonly phase: SessionSummary['phase']
  readonly agent: string
  readonly lastSeq: number
  readonly lastEnd?: NonNullable<SessionStanding['lastEnd']>
  readonly waiting?: WaitingQuestion
  readonly unread: boolean
}

/** A row of the live list. */
export type SessionRow = SessionInfo & SessionDetails

/** The sessions that exist for a client, and which of them it has not read. */
export interface SessionReader {
  readonly sessions: Pick<SessionDirectory, 'list'>
  readonly isUnread: (row: SessionSummary) => boolean
}

export async function listSessions(reader: SessionReader, { cwd, cursor, _meta }: Parsed<'session/list'>) {
  if (typeof cwd === 'string' && !isAbsolute(cwd)) fail('PATH_NOT_ABSOLUTE', { what: 'cwd', path: cwd })
  const rows = await reader.sessions.list({
    // One more than a page, to know whether there is another page.
    limit: PAGE_SIZE + 1,
    ...(cwd === undefined || cwd === null ? {} : { cwd }),
    ...filterIn(_meta?.['parley/filter']),
    ...(cursor === undefined || cursor === null ? {} : { after: decodeCursor(cursor) }),
  })
  const page = rows.slice(0, PAGE_SIZE)
  const last = rows.length > PAGE_SIZE ? page.at(-1) : undefined
  return {
    result: {
      sessions: page.map((row) => withDetails(row, reader.isUnread(row))),
      ...(last && { nextCursor: encodeCursor(last) }),
    },
  }
}

type Filter = NonNullable<Parsed<'session/list'>['_meta']>['parley/filter']

function filterIn(filter: Filter): Partial<ListQuery> {
  const { phase, agent, cwdPrefix, text } = filter ?? {}
  const phases = typeof phase === 'string' ? [phase] : phase
  return {
    ...(phases && { phases }),
    ...(agent && { agent }),
    ...(cwdPrefix && { cwdPrefix }),
    ...(text && { text }),
  }
}

export function sessionRow(row: SessionSummary, unread: boolean): SessionRow {
  return { ...sessionInfo(row), ...sessionDetails(row, unread) }
}

function withDetails(row: SessionSummary, unread: boolean): object {
  const info: SessionInfo & { _meta?: object } = sessionInfo(row)
  info._meta = metaOf(row, unread)
  return info
}

function sessionDetails({ phase, agent, lastSeq, standing }: SessionSummary, unread: boolean): SessionDetails {
  return { phase, agent, lastSeq, ...standing, unread }
}

function metaOf({ phase, agent, lastSeq, standing }: SessionSummary, unread: boolean): object {
  return {
    'parley/phase': phase,
    'parley/agent': agent,
    'parley/lastSeq': lastSeq,
    'parley/lastEnd': standing?.lastEnd,
    'parley/waiting': standing?.waiting,
    'parley/unread': unread,
  } satisfies { [Name in keyof SessionDetails as `parley/${Name}`]-?: SessionDetails[Name] | undefined }
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
