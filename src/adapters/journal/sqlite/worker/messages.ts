/** The calls between the journal and its worker thread. Entries cross packed into rows: few strings cross faster than many. */
import type { FaultsSpec } from '../../../../ports/fault.ts'
import type { ListQuery, SessionHead, SessionId, SessionSummary, Snapshot } from '../../../../ports/journal.ts'
import type { CallOf } from '../../../../threads/worker-port.ts'
import type { WatchOrder } from '../../../watchdog/stall-watch.ts'
import type { EntryRow } from '../../journal-base.ts'

/** The data that the thread is started with. */
export interface WorkerOrder {
  readonly directory: string
  /** An owner holds the lock and may append; a reader only reads; an inspector leaves no file beside the journal either. */
  readonly role: 'owner' | 'reader' | 'inspector'
  readonly faults: FaultsSpec
  /** This thread sleeps most of the time, so an owner's also watches the main thread. */
  readonly watch?: WatchOrder | undefined
  /** After so many milliseconds without a call an owner empties the WAL; for tests. */
  readonly idleMs?: number | undefined
}

export interface AppendOrder {
  readonly id: SessionId
  /** Undefined while the thread has it: a session works, and nothing of its row has changed but how far it is and since when. */
  readonly row: SessionSummary | undefined
  readonly expected: number
  /** The number of the last entry. */
  readonly last: number
  /** When the last of `rows` was stored; undefined when there are none. */
  readonly lastAt: number | undefined
  readonly rows: readonly EntryRow[]
  readonly snapshot: Snapshot | undefined
}

/** The entries of `source` up to `at` are to begin a new session. */
export interface ForkOrder {
  readonly source: string
  readonly at: number
}

/** The keys of a fork's source, and of the new session while it is a draft. */
export interface ForkPlace {
  readonly source: number
  readonly draft: number
}

export interface CopyOrder extends ForkPlace {
  /** The source by its id, under which another session may stand by now. */
  readonly id: string
  /** Everything up to here is copied. */
  readonly from: number
  readonly until: number
}

/** Entries of a session that is imported. */
export interface FillOrder {
  readonly draft: number
  readonly rows: readonly EntryRow[]
}

export interface FinishOrder {
  readonly draft: number
  readonly append: AppendOrder & { readonly row: SessionSummary }
}

export interface PageOrder {
  readonly id: string
  readonly from: number
  readonly entries: number
  readonly chars: number
}

export interface FindOrder extends PageOrder {
  readonly text: string
}

/** The entries after `from`; they follow it, so their numbers need not be sent. */
export interface PageAnswer {
  readonly at: readonly number[]
  readonly bodies: readonly string[]
}

/** Entries that do not follow each other. */
export interface FindAnswer extends PageAnswer {
  readonly seqs: readonly number[]
  readonly until: number | undefined
}

export interface JournalCalls {
  readonly append: { readonly ask: AppendOrder; readonly answer: undefined }
  readonly fork: { readonly ask: ForkOrder; readonly answer: ForkPlace }
  /** Copies a part; the answer is the last entry that is copied by then. */
  readonly copy: { readonly ask: CopyOrder; readonly answer: number }
  /** Makes a draft without a source; the answer is its key. */
  readonly draft: { readonly ask: undefined; readonly answer: number }
  readonly fill: { readonly ask: FillOrder; readonly answer: undefined }
  /** The draft becomes a session. */
  readonly finish: { readonly ask: FinishOrder; readonly answer: undefined }
  readonly abandon: { readonly ask: number; readonly answer: undefined }
  readonly delete: { readonly ask: string; readonly answer: boolean }
  readonly page: { readonly ask: PageOrder; readonly answer: PageAnswer }
  readonly find: { readonly ask: FindOrder; readonly answer: FindAnswer }
  readonly head: { readonly ask: string; readonly answer: SessionHead | undefined }
  readonly list: { readonly ask: ListQuery; readonly answer: readonly SessionSummary[] }
  /** Returns the faults of the file: from SQLite's own check, and entries that do not follow each other. */
  readonly check: { readonly ask: undefined; readonly answer: readonly string[] }
  readonly close: { readonly ask: undefined; readonly answer: undefined }
}

export type WorkerCall = CallOf<JournalCalls>
export type ReadCall = CallOf<JournalCalls, 'page' | 'find' | 'head' | 'list' | 'check'>
export type WriteCall = CallOf<
  JournalCalls,
  'append' | 'fork' | 'copy' | 'draft' | 'fill' | 'finish' | 'abandon' | 'delete'
>
