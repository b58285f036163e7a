/**
 * Turns entries into passages: one passage for a message, however many chunks it came in, and one for a tool call, however
 * often it was updated.
 */
import { indexText } from '../../../text/tokens.ts'
import type { SearchDocument } from '../../../ports/search.ts'
import { joinPieces, piecesOf } from '../query/pieces.ts'
import { type Statements, escapeText, unescapeText } from '../../../sqlite/statements.ts'

/** A stored passage from `part` on, with the text that was added since. */
interface Draft {
  readonly document: SearchDocument
  readonly part: number
  /** Of the first of its pieces. */
  readonly repeats: number
  readonly seq: number
  readonly at: number
  title: string | null
  text: string
  until: number
}

interface Numbered {
  readonly id: number
}

interface PassageRow {
  readonly part: number
  readonly seq: number
  readonly at: number
  readonly until: number
  readonly title: string | null
  readonly text: string
  readonly repeats: number
}

/** Within a transaction of the caller. */
export function writeDocuments(statements: Statements, session: number, documents: readonly SearchDocument[]): void {
  const drafts = new Map<string, Draft>()
  for (const document of documents) {
    const draft = drafts.get(document.name) ?? draftOf(rowsOf(statements, session, document), document)
    drafts.set(document.name, draft)
    add(draft, document)
  }
  for (const draft of drafts.values()) write(statements, session, draft)
}

/** A document that continues a stored one needs only its last piece. */
function rowsOf(statements: Statements, session: number, { name, continues }: SearchDocument): readonly PassageRow[] {
  const order = continues ? 'DESC LIMIT 1' : ''
  const sql = `SELECT part, seq, at, until, title, text, repeats FROM passages WHERE session = ? AND name = ? ORDER BY part ${order}`
  return (statements.all(sql, session, escapeText(name)) as readonly PassageRow[]).map(readable)
}

function readable({ title, text, ...row }: PassageRow): PassageRow {
  return { ...row, title: title === null ? null : unescapeText(title), text: unescapeText(text) }
}

function draftOf(rows: readonly PassageRow[], document: SearchDocument): Draft {
  const [first] = rows
  const { seq, at } = document
  if (first === undefined) return { document, part: 0, repeats: 0, seq, at, until: seq, title: null, text: '' }
  const text = first.text.slice(0, first.repeats) + joinPieces(rows)
  return { document, ...first, text }
}

function add(draft: Draft, { seq, title, text, continues }: SearchDocument): void {
  draft.until = seq
  if (title !== undefined) draft.title = title
  if (text !== undefined) draft.text = continues ? draft.text + text : text
}

const INSERT =
  'INSERT INTO passages (session, name, part, said_by, turn, seq, until, at, title, text, repeats) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)'

function write(statements: Statements, session: number, draft: Draft): void {
  const { document, seq, at, until, title, text } = draft
  const name = escapeText(document.name)
  const stale = 'SELECT id FROM passages WHERE session = ? AND name = ? AND part >= ?'
  for (const row of statements.all(stale, session, name, draft.part)) removePassage(statements, (row as Numbered).id)
  if (text === '' && title === null) return
  for (const [index, piece] of piecesOf(text).entries()) {
    const repeats = index === 0 ? draft.repeats : piece.repeats
    const place = [session, name, draft.part + index, document.by, document.turn, seq, until, at] as const
    const words = [title === null ? null : escapeText(title), escapeText(piece.text), repeats] as const
    const id = statements.run(INSERT, ...place, ...words)
    statements.run('INSERT INTO words (rowid, text) VALUES (?, ?)', id, indexText(passageText(title, piece.text)))
  }
}

/** A passage as it is searched and shown. */
export function passageText(title: string | null, text: string): string {
  return title === null || title === '' ? text : `${title}\n\n${text}`
}

export function removePassage(statements: Statements, id: number): void {
  statements.run('DELETE FROM words WHERE rowid = ?', id)
  statements.run('DELETE FROM passages WHERE id = ?', id)
}
