/** Where a page of `session/list` ended, as an opaque text that only we read. */
import { fail } from '../../../../errors/parley-error.ts'
import type { ListKey, SessionSummary } from '../../../../ports/journal.ts'

export function encodeCursor({ updatedAt, id }: SessionSummary): string {
  return Buffer.from(JSON.stringify([updatedAt, id])).toString('base64url')
}

/** Throws CURSOR_INVALID. */
export function decodeCursor(cursor: string): ListKey {
  try {
    const [updatedAt, id] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[]
    if (typeof updatedAt === 'number' && typeof id === 'string') return { updatedAt, id }
  } catch {
    // Not one of ours: the same answer as for one that parses to something else.
  }
  return fail('CURSOR_INVALID', { cursor: cursor.slice(0, 64) })
}
