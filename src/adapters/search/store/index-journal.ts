/** Follows the journal: one page of one session at a time goes into the index, together with the cursor behind it. */
import { reasonOf } from '../../../errors/parley-error.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { SessionId } from '../../../ports/journal.ts'
import type { StoredHead } from '../../../ports/search.ts'
import { removePassage, writeDocuments } from './write-passages.ts'
import type { SearchSource } from './source.ts'
import { type Statements, escapeText, unescapeText } from '../../../sqlite/statements.ts'

/** The most that one transaction indexes. A query that arrives meanwhile waits for at most one such transaction. */
const PAGE_PER_TRANSACTION = { entries: 2_000, chars: 128 * 1024 }
/** How many passages of a deleted session one transaction removes. */
const SWEEP = 500

interface IndexedSession {
  readonly key: number
  readonly id: string
  readonly seq: number
  readonly at: number
  readonly turn: string | null
}

/** How long after a comparison the sessions that changed since are among the recent ones of the source. Milliseconds. */
const RECENT_MS = 8 * 60_000

export interface Follows {
  readonly source: SearchSource
  readonly clock: Pick<Clock, 'monotonicNow'>
  readonly report: (sentence: string) => void
}

export class Projection {
  readonly #statements: Statements
  readonly #source: SearchSource
  readonly #clock: Pick<Clock, 'monotonicNow'>
  readonly #report: (sentence: string) => void
  /** Sessions that may have changed, the first to be looked at first. */
  readonly #changed = new Set<SessionId>()
  #comparedAt: number | undefined

  constructor(statements: Statements, { source, clock, report }: Follows) {
    this.#statements = statements
    this.#source = source
    this.#clock = clock
    this.#report = report
  }

  changed(sessions: Iterable<SessionId>): void {
    for (const id of sessions) this.#changed.add(id)
  }

  /** Finds what other machines have changed by now, where they can. */
  lookAround(): void {
    if (this.#source.recent === undefined || this.#comparedAt === undefined) return
    const now = this.#clock.monotonicNow()
    if (now - this.#comparedAt > RECENT_MS) return this.#compare()
    for (const head of this.#source.recent()) {
      const known = this.#cursorOf(head)
      if (known?.seq !== head.lastSeq || unescapeText(known.id) !== head.id) this.#changed.add(head.id)
    }
    this.#comparedAt = now
  }

  /** One bounded step; false when the index has all that the journal has. */
  step(): boolean {
    if (this.#comparedAt === undefined) this.#compare()
    const [id] = this.#changed
    if (id === undefined) return this.#sweep()
    if (!this.#takePage(id)) this.#changed.delete(id)
    return true
  }

  /** How many entries the index does not have yet. */
  behind(): number {
    if (this.#comparedAt === undefined) this.#compare()
    let entries = 0
    for (const id of this.#changed) {
      const head = this.#source.head(id)
      if (head !== undefined) entries += Math.max(0, head.lastSeq - (this.#cursorOf(head)?.seq ?? 0))
    }
    return entries
  }

  /** Finds the sessions that another process may have changed: once at the beginning, and where machines share the journal. */
  #compare(): void {
    this.#comparedAt = this.#clock.monotonicNow()
    const heads = this.#source.heads()
    const keys = new Set(heads.map(({ key }) => key))
    const known = this.#statements.all('SELECT key, id, seq, at, turn FROM sessions') as readonly IndexedSession[]
    const found = new Map(known.map(({ key, id, seq }) => [key, `${seq} ${unescapeText(id)}`]))
    for (const { key, id } of known) if (!keys.has(key)) this.#changed.add(unescapeText(id))
    for (const { key, id, lastSeq } of heads) if (found.get(key) !== `${lastSeq} ${id}`) this.#changed.add(id)
  }

  /**
   * Returns whether the session may have more pages. A session that cannot be read does not stop the others from being
   * indexed.
   */
  #takePage(id: SessionId): boolean {
    try {
      return this.#statements.transaction(() => this.#take(id))
    } catch (error) {
      if (!isOfJournal(error)) throw error
      this.#report(`session ${id} cannot be searched: ${reasonOf(error)}`)
      return false
    }
  }

  #take(id: SessionId): boolean {
    const head = this.#source.head(id)
    this.#forgetOthers(id, head?.key)
    if (head === undefined) return false
    const known = this.#cursorOf(head)
    const before = known !== undefined && this.#isOf(known, id) ? known : undefined
    if (before === undefined) this.#purge(head.key)
    const news = this.#source.page(id, before?.seq ?? 0, PAGE_PER_TRANSACTION)
    const last = news.at(-1)
    if (last === undefined) return false
    const { documents, turn } = this.#source.documents(news, before?.turn ?? null)
    writeDocuments(this.#statements, head.key, documents)
    const cursor = [head.key, escapeText(id), escapeText(head.cwd), last.seq, last.at, turn] as const
    const sql = 'INSERT OR REPLACE INTO sessions (key, id, cwd, seq, at, turn) VALUES (?, ?, ?, ?, ?, ?)'
    this.#statements.run(sql, ...cursor)
    return last.seq < head.lastSeq
  }

  #cursorOf({ key }: StoredHead): IndexedSession | undefined {
    return this.#statements.get('SELECT key, id, seq, at, turn FROM sessions WHERE key = ?', key) as
      | IndexedSession
      | undefined
  }

  /** The same session, with the same entry under the cursor: the journal was not put back to an earlier state. */
  #isOf(known: IndexedSession, id: SessionId): boolean {
    if (unescapeText(known.id) !== id) return false
    const [entry] = this.#source.page(id, known.seq - 1, { entries: 1, chars: 1 })
    return entry?.at === known.at
  }

  /** A session that had this id before is deleted. */
  #forgetOthers(id: SessionId, key: number | undefined): void {
    const named = this.#statements.all('SELECT key FROM sessions WHERE id = ?', escapeText(id))
    for (const known of named as readonly IndexedSession[]) if (known.key !== key) this.#forget(known.key)
  }

  /** The session is no longer found at once. Its passages are removed in pieces. */
  #forget(key: number): void {
    this.#statements.run('DELETE FROM sessions WHERE key = ?', key)
    this.#statements.run('INSERT OR IGNORE INTO gone (session) VALUES (?)', key)
  }

  #sweep(): boolean {
    const gone = this.#statements.get('SELECT session FROM gone LIMIT 1') as { readonly session: number } | undefined
    if (gone === undefined) return false
    this.#statements.transaction(() => {
      if (this.#remove(gone.session, SWEEP) < SWEEP)
        this.#statements.run('DELETE FROM gone WHERE session = ?', gone.session)
    })
    return true
  }

  /** Nothing of what had this key before is left, so that what comes is not swept away with it. */
  #purge(key: number): void {
    this.#statements.run('DELETE FROM gone WHERE session = ?', key)
    this.#remove(key, -1)
  }

  #remove(key: number, most: number): number {
    const sql = 'SELECT id FROM passages WHERE session = ? LIMIT ?'
    const passages = this.#statements.all(sql, key, most)
    for (const { id } of passages as readonly { readonly id: number }[]) removePassage(this.#statements, id)
    return passages.length
  }
}

function isOfJournal(error: unknown): boolean {
  const code = (error as { readonly code?: unknown } | undefined)?.code
  return typeof code === 'string' && code.startsWith('JOURNAL_')
}
