/** How a session becomes a row of its table, and back. */
import type { Append, SessionHead, SessionPhase, SessionStanding, SessionSummary } from '../../../../ports/journal.ts'
import { escapeText, unescapeText } from './text.ts'

/** Numbers of 64 bits come as text; keys stay text, all others are small enough to be numbers. */
export type Wide = string

export type HeadColumns = readonly [
  key: Wide,
  id: string,
  epoch: Wide,
  boot: string | null,
  lastSeq: Wide,
  updatedAt: Wide,
  phase: string,
  cwd: string,
  info: string,
  last: Wide | null,
  at: Wide | null,
  rowEpoch: Wide | null,
  rowBatch: Wide | null,
  snapshotSeq?: Wide | null,
  snapshot?: string | null,
]

/** Milliseconds of one step of `touched`, the only time that has an index: most appends leave it as it is. */
const TOUCH_MS = 65_536

export function touchedOf(updatedAt: number): number {
  return Math.floor(updatedAt / TOUCH_MS)
}

/** What the row of a session says besides its last entry. */
export interface SessionColumns {
  readonly phase: string
  readonly cwd: string
  readonly info: string
  readonly touched: number
}

interface Info {
  readonly directories: readonly string[]
  readonly agent: string
  readonly title: string | null
  readonly createdAt: number
  readonly standing?: SessionStanding
}

export function columnsOf(row: SessionSummary): SessionColumns {
  const { additionalDirectories: directories, agent, title, createdAt, standing } = row
  const info: Info = { directories, agent, title, createdAt, ...(standing !== undefined && { standing }) }
  return {
    phase: row.phase,
    cwd: escapeText(row.cwd),
    info: JSON.stringify(info),
    touched: touchedOf(row.updatedAt),
  }
}

/** A session as it is stored: who may append, and its last append. */
export interface StoredSession extends SessionHead {
  readonly key: Wide
  readonly epoch: number
  readonly boot: string | undefined
  /** Of the last row of entries. */
  readonly lastAppend: { readonly epoch: number; readonly batch: number } | undefined
  readonly columns: SessionColumns
}

export function storedSession(columns: HeadColumns): StoredSession {
  const [key, id, epoch, boot, lastSeq, updatedAt, phase, cwd, text, last, at, rowEpoch, rowBatch, seq, state] = columns
  const { directories, agent, title, createdAt, standing } = JSON.parse(text) as Info
  const isNewer = last !== null && Number(last) > Number(lastSeq)
  const row: SessionSummary = {
    id: unescapeText(id),
    cwd: unescapeText(cwd),
    additionalDirectories: directories,
    agent,
    title,
    phase: phase as SessionPhase,
    lastSeq: Number(isNewer ? last : lastSeq),
    createdAt,
    updatedAt: Number(isNewer ? at : updatedAt),
    ...(standing !== undefined && { standing }),
  }
  return {
    row,
    ...(typeof state === 'string' && { snapshot: { seq: Number(seq), state: unescapeText(state) } }),
    key,
    epoch: Number(epoch),
    boot: boot ?? undefined,
    lastAppend: rowEpoch === null ? undefined : { epoch: Number(rowEpoch), batch: Number(rowBatch) },
    columns: { phase, cwd, info: text, touched: touchedOf(Number(updatedAt)) },
  }
}

/** The row is written when it says something new, at least once in each step of `touched`. */
export function writesRow({ row, entries }: Append, columns: SessionColumns, before: SessionColumns): boolean {
  const isSame =
    columns.phase === before.phase &&
    columns.cwd === before.cwd &&
    columns.info === before.info &&
    columns.touched === before.touched
  return !isSame || entries.at(-1)?.at !== row.updatedAt
}
