/** Cursors: opaque to clients, and valid only for the search or list that they were made for. */
import { createHash } from 'node:crypto'
import { fail } from '../../../errors/parley-error.ts'

/** Where the next page of a search starts, and in which state of the index. */
export interface SearchPosition {
  readonly offset: number
  readonly generation: string
}

/** `search` holds everything that distinguishes one search from another. */
export function cursorOf(search: unknown, { offset, generation }: SearchPosition): string {
  return encodeCursor([digest(search), offset, generation])
}

/** Throws CURSOR_INVALID for a cursor of another program or another search. */
export function searchPositionOf(search: unknown, cursor: string): SearchPosition {
  const [made, offset, generation] = read(cursor)
  if (made !== digest(search) || !isCount(offset) || typeof generation !== 'string') return unknown(cursor)
  return { offset, generation }
}

/** The cursor of the page after `last`, which stays valid when items are added or removed. */
export function cursorAfter(list: unknown, last: string): string {
  return encodeCursor([digest(list), last])
}

/** Throws CURSOR_INVALID. */
export function afterOf(list: unknown, cursor: string): string {
  const [made, last] = read(cursor)
  return made === digest(list) && typeof last === 'string' ? last : unknown(cursor)
}

function unknown(cursor: string): never {
  return fail('CURSOR_INVALID', { cursor: JSON.stringify(cursor.slice(0, 40)) })
}

function encodeCursor(parts: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url')
}

function read(cursor: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    return Array.isArray(value) ? value : []
  } catch {
    // Not one of our cursors; the caller reports that.
    return []
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}

function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 12)
}
