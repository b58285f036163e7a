/** What the journal and its worker thread say to each other: arrays of plain values, many to a message. */
import type { EntryRow } from '../store/entry-packing.ts'
import type { ErrorCode, ErrorDetails } from '../../../../errors/catalogue.ts'
import type { FaultsSpec } from '../../../../ports/fault.ts'
import type { WatchOrder } from '../../../watchdog/stall-watch.ts'
import type { ListKey } from '../../../../ports/journal.ts'

/** What the worker is started with. */
export interface WorkerOrder {
  readonly directory: string
  /** An owner holds the lock and may append; a reader only looks; an inspector leaves nothing beside the file either. */
  readonly role: 'owner' | 'reader' | 'inspector'
  readonly faults: FaultsSpec
  /** This thread sleeps most of the time: an owner's watches the main thread as well. */
  readonly watch?: WatchOrder | undefined
}

/** A row as it is stored, in the order of the columns: id, cwd, additional_directories, agent, title, phase, last_seq, created_at, updated_at. */
export type RowColumns = readonly [
  id: string,
  cwd: string,
  additionalDirectories: string,
  agent: string,
  title: string | null,
  phase: string,
  lastSeq: number,
  createdAt: number,
  updatedAt: number,
]

/** Already bundled into `rows`: few strings cross to the worker faster than many. */
export interface AppendOrder {
  readonly row: RowColumns
  readonly expected: number
  /** The number of the last entry. */
  readonly last: number
  readonly rows: readonly EntryRow[]
  readonly snapshot: SnapshotColumns | undefined
}

/** The entries of `source` up to `at` are to begin a new session. */
export interface ForkOrder {
  readonly source: string
  readonly at: number
}

/** The keys of a fork's source, and of the new session while it is a draft that nobody sees. */
export interface ForkPlace {
  readonly source: number
  readonly draft: number
}

export interface CopyOrder extends ForkPlace {
  /** The source by its name, under which another session may stand by now. */
  readonly id: string
  /** Up to here all is copied. */
  readonly from: number
  readonly until: number
}

/** Entries of a session that is brought in from elsewhere, already bundled. */
export interface FillOrder {
  readonly draft: number
  readonly rows: readonly EntryRow[]
}

export interface FinishOrder {
  readonly draft: number
  readonly append: AppendOrder
}

export type SnapshotColumns = readonly [seq: number, state: string]

export interface PageOrder {
  readonly id: string
  readonly from: number
  readonly entries: number
  readonly chars: number
}

export interface FindOrder extends PageOrder {
  readonly text: string
}

/** Entries that do not follow each other. */
export interface FindAnswer extends PageAnswer {
  readonly seqs: readonly number[]
  readonly until: number | undefined
}

/** The entries after `from`; they follow it, so their numbers need not be told. */
export interface PageAnswer {
  readonly at: readonly number[]
  readonly bodies: readonly string[]
}

export interface HeadAnswer {
  readonly row: RowColumns
  readonly snapshot: SnapshotColumns | undefined
}

export interface ListOrder {
  readonly cwd: string | undefined
  readonly phases: readonly string[] | undefined
  readonly after: ListKey | undefined
  readonly limit: number
}

/** Every kind of call: what is asked and what is answered. */
export interface Calls {
  readonly append: { readonly ask: AppendOrder; readonly answer: undefined }
  readonly fork: { readonly ask: ForkOrder; readonly answer: ForkPlace }
  /** Copies a piece; the answer says up to which entry. */
  readonly copy: { readonly ask: CopyOrder; readonly answer: number }
  /** A draft without a source; the answer is its key. */
  readonly draft: { readonly ask: undefined; readonly answer: number }
  readonly fill: { readonly ask: FillOrder; readonly answer: undefined }
  /** The draft becomes a session. */
  readonly finish: { readonly ask: FinishOrder; readonly answer: undefined }
  readonly abandon: { readonly ask: number; readonly answer: undefined }
  readonly delete: { readonly ask: string; readonly answer: boolean }
  readonly page: { readonly ask: PageOrder; readonly answer: PageAnswer }
  readonly find: { readonly ask: FindOrder; readonly answer: FindAnswer }
  readonly head: { readonly ask: string; readonly answer: HeadAnswer | undefined }
  readonly list: { readonly ask: ListOrder; readonly answer: readonly RowColumns[] }
  /** What is wrong with the file, if anything is: SQLite's own look at it, and entries that do not follow each other. */
  readonly check: { readonly ask: undefined; readonly answer: readonly string[] }
  readonly close: { readonly ask: undefined; readonly answer: undefined }
}

export type CallKind = keyof Calls

export type CallOf<Kind extends CallKind> = Kind extends CallKind
  ? readonly [call: number, kind: Kind, ask: Calls[Kind]['ask']]
  : never

export type Call = CallOf<CallKind>
export type ReadCall = CallOf<'page' | 'find' | 'head' | 'list' | 'check'>
export type WriteCall = CallOf<'append' | 'fork' | 'copy' | 'draft' | 'fill' | 'finish' | 'abandon' | 'delete'>

/** An error as it crosses threads. */
export interface Refusal {
  readonly code: ErrorCode
  readonly details: ErrorDetails<ErrorCode>
}

export type Answer = readonly [call: number, answer: unknown, refusal?: Refusal]

/** The number of the answer that says whether the journal is open; no call has it. */
export const opening = 0
