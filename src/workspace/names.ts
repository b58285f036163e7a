/** Names in a directory that is held, as bytes that may be no text at all. */
import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { type Held, within } from './resolve.ts'

export interface Entry {
  readonly name: string
  readonly kind: 'file' | 'directory' | 'link' | 'other'
}

export interface Names {
  /** In the order of their names. */
  readonly entries: readonly Entry[]
  /** How many have names that are not UTF-8 and that nobody can say. */
  readonly unnameable: number
}

export async function namesIn(held: Held): Promise<Names> {
  const found = await readdir(within(held, ''), { withFileTypes: true, encoding: 'buffer' })
  const named = found.flatMap((entry) => {
    const name = entry.name.toString('utf8')
    return Buffer.from(name, 'utf8').equals(entry.name) ? [{ name, kind: kindOf(entry) }] : []
  })
  return { entries: named.toSorted(byName), unnameable: found.length - named.length }
}

/** A name that holds what would break a list into lines is quoted. */
export function shownName(name: string): string {
  return /[\p{Cc}\p{Zl}\p{Zp}]/u.test(name) ? JSON.stringify(name) : name
}

function kindOf(entry: Dirent<Buffer>): Entry['kind'] {
  if (entry.isFile()) return 'file'
  if (entry.isDirectory()) return 'directory'
  return entry.isSymbolicLink() ? 'link' : 'other'
}

function byName({ name: one }: Entry, { name: other }: Entry): number {
  return one < other ? -1 : Number(one > other)
}
