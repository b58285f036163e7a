/** One append-only list of entries per session, and one row per session that says what it is. */
import type { PermissionOption } from './values/content.ts'
import type { Signal } from './values/signal.ts'

export type SessionId = string

/** The `seq` up to which a reader has seen; 0 is before the first entry. */
export type Cursor = number

/** One stored entry. `seq` is 1, 2, 3 … per session without gaps; `at` is milliseconds since 1970; `body` is JSON text. */
export interface StoredEntry {
  readonly seq: number
  readonly at: number
  readonly body: string
}

export type SessionPhase = 'idle' | 'working' | 'waiting' | 'suspended' | 'closed'

/** The row that lists of sessions show; it becomes true together with the entries that made it true. */
export interface SessionSummary {
  readonly id: SessionId
  /** As the client gave it. */
  readonly cwd: string
  readonly additionalDirectories: readonly string[]
  /** Which agent answers: `guide`, `script`, `acp:claude`, … */
  readonly agent: string
  readonly title: string | null
  readonly phase: SessionPhase
  readonly lastSeq: Cursor
  /** Milliseconds since 1970. */
  readonly createdAt: number
  readonly updatedAt: number
  /** Absent where nothing is to be said, and in rows of an earlier version that were not written since. */
  readonly standing?: SessionStanding
}

/** How the last turn ended, and what the session waits for. */
export interface SessionStanding {
  readonly lastEnd?: { readonly stopReason: string; readonly seq: Cursor; readonly at: number }
  readonly waiting?: WaitingQuestion
}

/** The oldest permission request without an answer. */
export interface WaitingQuestion {
  readonly requestId: string
  readonly toolCallId: string
  readonly title: string
  readonly options: readonly PermissionOption[]
  /** How many wait. */
  readonly count: number
}

/** A state computed from the entries up to `seq`, as JSON text; a shortcut, never the truth. */
export interface Snapshot {
  readonly seq: Cursor
  readonly state: string
}

export interface Append {
  /** `row.lastSeq` is the last of `entries`; entries follow `expected` without a hole. */
  readonly row: SessionSummary
  readonly entries: readonly StoredEntry[]
  /** The last `seq` that the writer knows; 0 creates the session. */
  readonly expected: Cursor
  /** Replaces the stored snapshot; absent keeps it. */
  readonly snapshot?: Snapshot
}

export interface PageLimits {
  readonly entries: number
  /** Characters of bodies; a page holds at least one entry however long it is. */
  readonly chars: number
}

export interface TextSearch {
  /** Only entries after this one. */
  readonly from: Cursor
  readonly text: string
}

export interface FoundEntries {
  readonly entries: readonly StoredEntry[]
  /** Up to here it was looked; undefined when there was nothing after `from`. */
  readonly until: Cursor | undefined
}

export interface ListQuery {
  /** Exactly this `cwd`, as given. */
  readonly cwd?: string
  /** Only sessions in one of these phases. */
  readonly phases?: readonly SessionPhase[]
  /** Only sessions of exactly this agent, as the row names it. */
  readonly agent?: string
  /** Only sessions whose `cwd` is this directory or lies below it. */
  readonly cwdPrefix?: string
  /** Only sessions whose title or `cwd` contains this, in whatever case. */
  readonly text?: string
  /** Where the page before ended. */
  readonly after?: ListKey
  readonly limit: number
}

/** Newest first; ties by id. Stable while sessions come and go. */
export interface ListKey {
  readonly updatedAt: number
  readonly id: SessionId
}

export type SessionChange =
  /** The row as it is stored now; also of a session that is new. */
  { readonly kind: 'changed'; readonly row: SessionSummary } | { readonly kind: 'removed'; readonly id: SessionId }

/**
 * Every adapter passes `test/contracts/journal.ts`.
 * All methods throw JOURNAL_CLOSED after `close`, and JOURNAL_CORRUPT, JOURNAL_FULL or JOURNAL_IO when the disk fails.
 */
export interface Journal {
  /**
   * Stores the entries, the row and the snapshot together, or nothing. Resolved means that it survives a power cut.
   * Throws JOURNAL_CONFLICT when the stored `lastSeq` is not `expected`, with nothing changed;
   * JOURNAL_FULL when the disk is full, with all that was stored intact.
   * Appends to different sessions may share one disk write; each still stands or falls alone.
   */
  append(append: Append): Promise<void>
  /**
   * Makes a new session that begins with the entries of `source` up to `append.expected`, unchanged, followed by those of
   * `append`, all together or nothing: no crash leaves a visible part of it. The source does not change, and appends to
   * other sessions do not wait for it. Throws JOURNAL_CONFLICT when `source` has not that many entries or is deleted
   * meanwhile, or when the new session exists; JOURNAL_CLOSED also when the journal closes meanwhile.
   */
  fork(source: SessionId, append: Append): Promise<void>
  /** The entries after `from`, in order, up to the limits; empty when there are none (yet). */
  page(id: SessionId, from: Cursor, limits: PageLimits): Promise<readonly StoredEntry[]>
  /**
   * Those of the entries that `page` would give whose bodies contain `text`, looked for where the journal is kept: the caller
   * is not sent the others.
   */
  find(id: SessionId, wanted: TextSearch, limits: PageLimits): Promise<FoundEntries>
  /**
   * Yields the entries after `from` in pages, then follows new ones, each once, until `signal` aborts or the session is deleted.
   * A session that is not there yet is waited for; JOURNAL_CLOSED when the journal closes meanwhile.
   */
  read(id: SessionId, from: Cursor, signal: Signal): AsyncIterable<readonly StoredEntry[]>
  /**
   * Calls `listener` with each change of the list of sessions, once it is stored. The listener must not throw. Returns how to
   * stop that. May be called when the journal is closed: nothing changes then.
   */
  watch(listener: (change: SessionChange) => void): () => void
  /** The session's row and newest snapshot, or undefined when there is no such session. */
  head(id: SessionId): Promise<SessionHead | undefined>
  /** Rows, newest first. A page shorter than `limit` is the last. */
  list(query: ListQuery): Promise<readonly SessionSummary[]>
  /** Deletes the session and its entries; false when there was none. */
  delete(id: SessionId): Promise<boolean>
  /** Finishes what was accepted, then releases the store. Idempotent. */
  close(): Promise<void>
}

export interface SessionHead {
  readonly row: SessionSummary
  readonly snapshot?: Snapshot
}

/** A journal into which whole sessions can be brought. Every adapter that can passes `test/contracts/journal-import.ts`. */
export interface ImportingJournal extends Journal {
  /**
   * Creates a session from the entries that `pieces` yields, followed by those of `last`, which is called once all of them
   * are stored. All or nothing: a reader never sees a part of it, not even after a crash, and an error of `pieces` or
   * `last` leaves nothing. Appends to other sessions do not wait for it. Throws JOURNAL_CONFLICT when the session exists.
   */
  importSession(pieces: AsyncIterable<readonly StoredEntry[]>, last: () => Append): Promise<void>
}
