/** A session as `session/list` shows it. */
import type { SessionSummary } from '../../../../ports/journal.ts'

export interface SessionInfo {
  readonly sessionId: string
  readonly cwd: string
  readonly additionalDirectories?: readonly string[]
  readonly title?: string
  /** ISO 8601. */
  readonly updatedAt: string
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
