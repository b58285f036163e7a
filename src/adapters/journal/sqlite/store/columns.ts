/** How a session's row becomes columns and back. */
import type { SessionPhase, SessionSummary } from '../../../../ports/journal.ts'
import type { RowColumns } from '../worker/messages.ts'

/** As `columnsOf` orders them. */
export const rowColumns = 'id, cwd, additional_directories, agent, title, phase, last_seq, created_at, updated_at'

export function columnsOf(row: SessionSummary): RowColumns {
  return [
    escape(row.id),
    escape(row.cwd),
    JSON.stringify(row.additionalDirectories),
    escape(row.agent),
    row.title === null ? null : escape(row.title),
    row.phase,
    row.lastSeq,
    row.createdAt,
    row.updatedAt,
  ]
}

export function rowOf(columns: RowColumns): SessionSummary {
  const [id, cwd, additionalDirectories, agent, title, phase, lastSeq, createdAt, updatedAt] = columns
  return {
    id: unescape(id),
    cwd: unescape(cwd),
    additionalDirectories: JSON.parse(additionalDirectories) as readonly string[],
    agent: unescape(agent),
    title: title === null ? null : unescape(title),
    phase: phase as SessionPhase,
    lastSeq,
    createdAt,
    updatedAt,
  }
}

/**
 * The text as the inside of a JSON string. The SQLite binding cuts text at a NUL and cannot keep half a surrogate pair;
 * so written, every text comes back as it was, and `a\0b` never finds the session `a`.
 */
export function escape(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

export function unescape(text: string): string {
  return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text
}
