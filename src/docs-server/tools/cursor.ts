/** Cursors of a search: where the next page starts, for which query, and in which state of the index. */
import { createHash } from 'node:crypto'
import { fail } from '../../errors/parley-error.ts'

export interface Place {
  readonly offset: number
  readonly generation: number
}

/** Opaque to whoever receives it. */
export function cursorOf(query: string, { offset, generation }: Place): string {
  return Buffer.from(JSON.stringify([digest(query), offset, generation])).toString('base64url')
}

/** Throws CURSOR_INVALID for one that was not made here, or for another query. */
export function placeOf(query: string, cursor: string): Place {
  const [made, offset, generation] = read(cursor)
  if (made !== digest(query) || !isCount(offset) || !isCount(generation)) {
    return fail('CURSOR_INVALID', { cursor: JSON.stringify(cursor.slice(0, 40)) })
  }
  return { offset, generation }
}

function read(cursor: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    return Array.isArray(value) ? value : []
  } catch {
    // Not one of ours; the caller says so.
    return []
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}

function digest(query: string): string {
  return createHash('sha256').update(query).digest('base64url').slice(0, 12)
}
