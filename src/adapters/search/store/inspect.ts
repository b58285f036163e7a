/** Reports the state of an index without changing anything: neither its file nor the files beside it. */
import { existsSync } from 'node:fs'
import { type Database, openDatabase, traceFreeLocation } from '../../../sqlite/database.ts'
import type { IndexState } from '../../../ports/search.ts'
import { isOurs } from './file.ts'
import type { SearchSource } from './source.ts'
import { unescapeText } from '../../../sqlite/statements.ts'

export function inspect(path: string, source: SearchSource): IndexState {
  if (!existsSync(path)) return { kind: 'absent' }
  const db = openDatabase(traceFreeLocation(path), { readOnly: true })
  try {
    if (!isOurs(db)) return { kind: 'unusable', reason: 'it is of another version' }
    const [damage] = db.prepare('PRAGMA quick_check(1)').all() as readonly { readonly quick_check: string }[]
    if (damage?.quick_check !== 'ok') return { kind: 'unusable', reason: damage?.quick_check ?? 'it cannot be checked' }
    return { kind: 'usable', behind: behindOf(db, source) }
  } finally {
    db.close()
  }
}

function behindOf(db: Database, source: SearchSource): number {
  const rows = db.prepare('SELECT key, id, seq FROM sessions').all() as readonly Cursor[]
  const cursors = new Map(rows.map(({ key, id, seq }) => [`${key} ${unescapeText(id)}`, seq]))
  return source
    .heads()
    .reduce((sum, { key, id, lastSeq }) => sum + Math.max(0, lastSeq - (cursors.get(`${key} ${id}`) ?? 0)), 0)
}

interface Cursor {
  readonly key: number
  readonly id: string
  readonly seq: number
}
