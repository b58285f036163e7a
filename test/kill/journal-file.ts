/** Reads a journal file as anyone with SQLite could, without any code of ours. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import type { JournalRow, SideEffect } from './evidence.ts'

const SQL = `SELECT entries.seq, entries.count, entries.body FROM entries JOIN sessions ON sessions.key = entries.session
  WHERE sessions.id = ? ORDER BY entries.seq`

export function readJournal(home: string, sessionId: string): readonly JournalRow[] {
  const db = new DatabaseSync(join(home, 'journal.db'), { readOnly: true })
  try {
    const rows = db.prepare(SQL).all(sessionId) as readonly StoredRow[]
    return rows.flatMap(entriesOf)
  } finally {
    db.close()
  }
}

interface StoredRow {
  /** Of its last entry. */
  readonly seq: number
  readonly count: number
  readonly body: string
}

/** A row of several entries is lines: what all bodies begin with, what they end with, their times, the rest of each. */
function entriesOf({ seq, count, body }: StoredRow): readonly JournalRow[] {
  const [beginning = '', ending = '', , ...middles] = body.split('\n')
  const bodies = count === 1 ? [body] : middles.map((middle) => beginning + middle + ending)
  return bodies.map((text, index) => ({ seq: seq - count + 1 + index, body: JSON.parse(text) as JournalRow['body'] }))
}

/** The lines that the tool wrote; none when it never ran. */
export function readEffects(path: string): readonly SideEffect[] {
  if (!existsSync(path)) return []
  const lines = readFileSync(path, 'utf8').split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as SideEffect)
}
