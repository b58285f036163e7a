/** Reads a journal file as anyone with SQLite could, without any code of ours. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import type { JournalRow, SideEffect } from './evidence.ts'

const SQL = `SELECT entries.seq, entries.body FROM entries JOIN sessions ON sessions.key = entries.session
  WHERE sessions.id = ? ORDER BY entries.seq`

export function readJournal(home: string, sessionId: string): readonly JournalRow[] {
  const db = new DatabaseSync(join(home, 'journal.db'), { readOnly: true })
  try {
    const rows = db.prepare(SQL).all(sessionId) as readonly { readonly seq: number; readonly body: string }[]
    return rows.map(({ seq, body }) => ({ seq, body: JSON.parse(body) as JournalRow['body'] }))
  } finally {
    db.close()
  }
}

/** The lines that the tool wrote; none when it never ran. */
export function readEffects(path: string): readonly SideEffect[] {
  if (!existsSync(path)) return []
  const lines = readFileSync(path, 'utf8').split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as SideEffect)
}
