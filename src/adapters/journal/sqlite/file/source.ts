/**
 * Reads the journal for a projection such as the search index, in its own thread and beside the owner. Reads are short, so
 * that no writer waits.
 */
import type { JournalSource, StoredHead } from '../../../../ports/search.ts'
import type { Database } from '../../../../sqlite/database.ts'
import { Statements, escapeText, unescapeText } from '../../../../sqlite/statements.ts'
import { journalPath } from './journal-exists.ts'
import { openForReader } from './file.ts'
import { journalError } from './journal-error.ts'
import { Store } from '../store/store.ts'

type HeadColumns = readonly [key: number, id: string, cwd: string, title: string | null, lastSeq: number]

/** The row of a session that works may be older than its last entries. */
const COLUMNS = `key, id, cwd, title,
  CASE phase WHEN 'working' THEN (SELECT max(seq) FROM entries WHERE session = key) ELSE last_seq END`

/** There may be no journal yet, or it may appear later; until then it is empty. */
export function openJournalSource(directory: string, quiet = false): JournalSource {
  const path = journalPath(directory)
  let db: Database | undefined
  let opened: { readonly statements: Statements; readonly store: Store } | undefined

  function read<Result>(from: (journal: NonNullable<typeof opened>) => Result, otherwise: Result): Result {
    try {
      db ??= openForReader(path, { quiet })
      if (db === undefined) return otherwise
      opened ??= { statements: new Statements(db, 'arrays'), store: new Store(db, path) }
      return from(opened)
    } catch (error) {
      opened?.statements.renew()
      opened?.store.renew()
      throw journalError(error, path)
    }
  }

  return {
    heads: () =>
      read(({ statements }) => {
        const rows = statements.prepare(`SELECT ${COLUMNS} FROM sessions ORDER BY updated_at, id DESC`).all()
        return (rows as readonly HeadColumns[]).map(headOf)
      }, []),
    head: (id) =>
      read(({ statements }) => {
        const found = statements.get(`SELECT ${COLUMNS} FROM sessions WHERE id = ?`, escapeText(id))
        return found === undefined ? undefined : headOf(found as HeadColumns)
      }, undefined),
    page: (id, from, { entries, chars }) =>
      read(({ store }) => {
        const { at, bodies } = store.page({ id, from, entries, chars })
        return bodies.map((body, index) => ({ seq: from + index + 1, at: at[index] ?? 0, body }))
      }, []),
    close: () => db?.close(),
  }
}

function headOf([key, id, cwd, title, lastSeq]: HeadColumns): StoredHead {
  return {
    key,
    id: unescapeText(id),
    cwd: unescapeText(cwd),
    title: title === null ? null : unescapeText(title),
    lastSeq,
  }
}
