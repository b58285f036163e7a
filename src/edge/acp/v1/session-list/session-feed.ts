/** The live list of sessions for a client that asked for it: all rows once, then each that changes. */
import { notificationMessage } from '../../../../rpc/json-rpc.ts'
import type { ListKey, SessionId, SessionSummary } from '../../../../ports/journal.ts'
import type { SessionDirectory } from '../../../../session/handle.ts'
import type { Transport } from '../../../transport/transport.ts'
import { type SessionReader, type SessionRow, sessionRow } from './list-sessions.ts'

/** Rows of one notification; the first one is shown while the others come. */
const ROWS_PER_NOTIFICATION = 500
const ROWS_AT_FIRST = 100

export interface FeedContext extends SessionReader {
  readonly sessions: Pick<SessionDirectory, 'list' | 'watch' | 'find'>
  readonly transport: Pick<Transport, 'send' | 'isBackpressured' | 'drained'>
  report(error: unknown): void
}

/** The parameters of `_parley/sessions`. */
interface SessionNews {
  /** What the client knew before is no longer true. */
  readonly reset?: true
  readonly sessions: readonly SessionRow[]
  readonly removed?: readonly SessionId[]
  /** More rows of the same snapshot follow. */
  readonly more?: true
}

export class SessionFeed {
  readonly #context: FeedContext
  /** What the client knows of each session, but for what changes with every entry. */
  readonly #known = new Map<SessionId, string>()
  /** Sessions whose change was not sent yet; undefined: removed. The newest counts. */
  readonly #changed = new Map<SessionId, SessionSummary | undefined>()
  #stopWatching: (() => void) | undefined
  #isTelling = false

  constructor(context: FeedContext) {
    this.#context = context
  }

  /** Sends the snapshot, then changes until `stop`. Idempotent. */
  start(): void {
    if (this.#stopWatching !== undefined) return
    this.#stopWatching = this.#context.sessions.watch((change) => {
      if (change.kind === 'changed' && this.#isKnown(change.row)) return
      if (change.kind === 'changed') this.#changed.set(change.row.id, change.row)
      else this.#changed.set(change.id, undefined)
      this.#tellLater()
    })
    this.#tell(() => this.#sendAll())
  }

  stop(): void {
    this.#stopWatching?.()
    this.#stopWatching = undefined
    this.#known.clear()
    this.#changed.clear()
  }

  /** Something about the session changed that no entry holds. */
  async look(id: SessionId): Promise<void> {
    if (this.#stopWatching === undefined) return
    const row = await this.#context.sessions.find(id)
    // A later entry has brought a newer row meanwhile.
    if (row === undefined || this.#changed.has(id)) return
    this.#changed.set(id, row)
    this.#tellLater()
  }

  /** Most entries are words of an answer, which change nothing that is shown. */
  #isKnown(row: SessionSummary): boolean {
    return !this.#isTelling && this.#changed.size === 0 && this.#known.get(row.id) === this.#shown(row).content
  }

  #tellLater(): void {
    if (!this.#isTelling) this.#tell(async () => undefined)
  }

  /** One at a time: the snapshot comes whole before changes. */
  #tell(first: () => Promise<void>): void {
    this.#isTelling = true
    first()
      .then(() => this.#sendChanges())
      .catch((error: unknown) => {
        this.#isTelling = false
        this.#context.report(error)
      })
  }

  async #sendAll(): Promise<void> {
    let after: ListKey | undefined
    for (let reset = true; this.#stopWatching !== undefined; reset = false) {
      const limit = reset ? ROWS_AT_FIRST : ROWS_PER_NOTIFICATION
      const page = await this.#context.sessions.list({ limit, ...(after && { after }) })
      after = page.at(-1)
      const more = page.length === limit
      await this.#send({ ...(reset && { reset }), sessions: page.map((row) => this.#note(row)), ...(more && { more }) })
      if (!more) return
    }
  }

  async #sendChanges(): Promise<void> {
    while (this.#changed.size > 0 && this.#stopWatching !== undefined) {
      const changes = [...this.#changed]
      this.#changed.clear()
      const sessions = changes.flatMap(([id, row]) => {
        const before = this.#known.get(id)
        const shown = row === undefined ? [] : [this.#note(row)]
        return this.#known.get(id) === before ? [] : shown
      })
      const removed = changes.flatMap(([id, row]) => (row === undefined && this.#known.delete(id) ? [id] : []))
      if (sessions.length + removed.length > 0) await this.#send({ sessions, ...(removed.length > 0 && { removed }) })
    }
    // In the same step as the last look, or a change right after it would wait for the next one.
    this.#isTelling = false
  }

  #note(row: SessionSummary): SessionRow {
    const { shown, content } = this.#shown(row)
    this.#known.set(row.id, content)
    return shown
  }

  #shown(row: SessionSummary): ShownRow {
    return shownRow(row, this.#context.isUnread(row) ? 'unread' : 'read')
  }

  async #send(news: SessionNews): Promise<void> {
    const { transport } = this.#context
    transport.send([notificationMessage('_parley/sessions', news)])
    if (transport.isBackpressured()) await transport.drained()
  }
}

interface ShownRow {
  readonly shown: SessionRow
  /** All of it but for what changes with every entry. */
  readonly content: string
}

/** By whether the person has read the session. All that watch the list get the same object as a row. */
const shownRows = {
  read: new WeakMap<SessionSummary, ShownRow>(),
  unread: new WeakMap<SessionSummary, ShownRow>(),
} as const

function shownRow(row: SessionSummary, standing: keyof typeof shownRows): ShownRow {
  const known = shownRows[standing].get(row)
  if (known !== undefined) return known
  const shown = sessionRow(row, standing === 'unread')
  const { lastSeq: _seq, updatedAt: _at, ...rest } = shown
  const made = { shown, content: JSON.stringify(rest) }
  shownRows[standing].set(row, made)
  return made
}
