/** Messages between the owner of an index and its worker threads. */
import type { MessagePort } from 'node:worker_threads'
import type { PathAccess } from '../../../path-rules/path-rules.ts'
import type { Collection } from '../collections.ts'
import type { ExtractLimits } from '../extract/extractor.ts'

export interface IndexLimits {
  readonly files: number
  readonly bytes: number
}

export interface IndexOptions {
  readonly collections: readonly Collection[]
  readonly limits: IndexLimits
  /** Looks for changes every two seconds instead of asking the system, as network file systems need it. */
  readonly poll: boolean
  /** Whether source code is searched too. */
  readonly code: boolean
  /** Lines of an ignore file that holds for every directory. Its own ignore files can include again what they exclude. */
  readonly skipped?: readonly string[]
  /** Where the index is kept between runs; it lives as long as its process if absent. */
  readonly file?: string
  readonly extract?: Partial<ExtractLimits>
}

/** The `workerData` of the thread that answers. */
export interface ServeOptions {
  readonly serve: IndexOptions
  /** For `WatchRequest`s; handed on to the thread that writes the index. */
  readonly watches: MessagePort
}

/** The `workerData` of the thread that writes the index. */
export interface WriterOptions {
  readonly write: IndexOptions
  readonly watches: MessagePort
}

/** Asks for the watch of a directory. It lasts until a message comes back through `port`, or that closes. */
export interface WatchRequest {
  /** Without links. */
  readonly directory: string
  /** Carries `WatchNews`, and closes when the watch is over. */
  readonly port: MessagePort
}

export type WatchNews =
  /** All changes from now on are reported. */
  | { readonly kind: 'begun' }
  /** In place of `begun`. */
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'changed' }
  /** It reports nothing any more, and may have missed something. */
  | { readonly kind: 'lost'; readonly reason: string }
  | { readonly kind: 'log'; readonly line: string }

/** UTF-16 offsets into the snippet, the end not included. */
export type Highlight = readonly [start: number, end: number]

/** A passage that a query found. `line` is that of the first match, `uri` leads to the passage's first line. */
export interface PassageHit {
  readonly title: string
  readonly headingPath: readonly string[]
  readonly collection: string
  /** Relative to its directory. */
  readonly file: string
  readonly line: number
  readonly snippet: string
  readonly highlights: readonly Highlight[]
  readonly score: number
  readonly modified: string
  readonly uri: string
}

/** A document as lists show it. `id` stays the same as long as the document is in the index. */
export interface DocumentInfo {
  readonly id: number
  readonly uri: string
  readonly title: string
  readonly collection: string
  readonly file: string
  /** Of the text that is given of it, which is not always that of the file. */
  readonly mimeType: string
  readonly bytes: number
  readonly created: string
  readonly modified: string
}

/** A document in which a query's words all occur. */
export interface DocumentHit extends DocumentInfo {
  readonly collectionId: number
  readonly snippet: string
}

export interface HitPage<Hit> {
  readonly total: number
  readonly hits: readonly Hit[]
  /** Names a state of the index; pages of different ones do not fit together. */
  readonly generation: string
  /** A limit that was reached, or a directory that is gone: without it a reader would trust the result too much. */
  readonly notice?: string
}

export interface PassagePage extends HitPage<PassageHit> {
  /** Which part of the query the passages contain. */
  readonly match: 'all' | 'phrase' | 'some'
}

export interface Excerpt {
  readonly uri: string
  readonly title: string
  readonly file: string
  readonly mimeType: string
  /** The line of the first character. */
  readonly line: number
  readonly text: string
  /** UTF-16 offsets into the whole document. */
  readonly offset: number
  readonly nextOffset?: number
  readonly totalCharacters: number
}

export interface OutlineEntry {
  readonly level: number
  readonly title: string
  readonly line: number
  /** Leads to the section: `doc://…#slug`. */
  readonly uri: string
}

export interface DocumentOutline extends DocumentInfo {
  readonly headings: readonly OutlineEntry[]
  readonly totalCharacters: number
}

/** The names of the collections that the client may see; documents of other collections do not exist for it. */
export interface Scoped {
  readonly collections: readonly string[]
  /** How long to wait for the first index, before a part of it serves; 20 seconds if absent. */
  readonly patienceMs?: number
  /** Documents that permission rules exclude: they are in no result, no count and no list. */
  readonly access?: PathAccess
}

export interface SearchDocumentsRequest extends Scoped {
  readonly query: string
  /** Whether the words must all occur, or stand next to each other too; `best`: all if any passage has all, else some. */
  readonly mode: 'best' | 'all' | 'phrase'
  readonly offset: number
  readonly limit: number
  /** ISO 8601; only documents modified after it. */
  readonly updatedAfter?: string
}

export interface ReadDocumentRequest extends Scoped {
  /** `#L12` begins there; another fragment names a section. */
  readonly uri: string
  readonly section?: string
  readonly offset?: number
  readonly limit: number
}

export interface ListRequest extends Scoped {
  /** The uri of the last document of the page before. */
  readonly after?: string
  readonly limit: number
  /** How their files begin. */
  readonly prefix?: string
}

export interface DocumentList {
  readonly total: number
  readonly documents: readonly DocumentInfo[]
  /** The last of them, if there are more. */
  readonly next?: string
  readonly notice?: string
}

export interface OutlineRequest extends Scoped {
  readonly uri: string
}

export interface ShowRequest extends OutlineRequest {
  /** The query whose matching passages are listed. */
  readonly search?: Pick<SearchDocumentsRequest, 'query' | 'mode'>
  /** The part that has this line; else the one of this number. */
  readonly line?: number
  readonly part?: number
}

/** A document for a reader, a part at a time. Ranges and offsets are of the whole text. */
export interface Shown extends DocumentInfo {
  /** With a paragraph separator where a block of HTML ends. */
  readonly text: string
  readonly offset: number
  readonly line: number
  readonly part: number
  readonly parts: number
  readonly headings: readonly ShownHeading[]
  readonly found: readonly FoundInDocument[]
}

export interface ShownHeading {
  readonly level: number
  readonly title: string
  readonly slug: string
  readonly line: number
  readonly part: number
  readonly at: Span
}

export interface FoundInDocument {
  readonly line: number
  /** The nearest one above, if there is one. */
  readonly heading: string
  readonly part: number
  readonly at: Span
  readonly marks: readonly Span[]
}

type Span = readonly [start: number, end: number]

/** Every call waits for the first index, for a while, and throws what the catalogue says. */
export interface DocumentIndex {
  passages(request: SearchDocumentsRequest): Promise<PassagePage>
  documents(request: SearchDocumentsRequest): Promise<HitPage<DocumentHit>>
  read(request: ReadDocumentRequest): Promise<Excerpt>
  list(request: ListRequest): Promise<DocumentList>
  outline(request: OutlineRequest): Promise<DocumentOutline>
  show(request: ShowRequest): Promise<Shown>
}

/** The calls from the owner of an index to the thread that answers. */
export interface IndexCalls {
  readonly passages: { readonly ask: SearchDocumentsRequest; readonly answer: PassagePage }
  readonly documents: { readonly ask: SearchDocumentsRequest; readonly answer: HitPage<DocumentHit> }
  readonly read: { readonly ask: ReadDocumentRequest; readonly answer: Excerpt }
  readonly list: { readonly ask: ListRequest; readonly answer: DocumentList }
  readonly outline: { readonly ask: OutlineRequest; readonly answer: DocumentOutline }
  readonly show: { readonly ask: ShowRequest; readonly answer: Shown }
  /** Serves these from now on. */
  readonly collections: { readonly ask: readonly Collection[]; readonly answer: undefined }
  readonly close: { readonly ask: undefined; readonly answer: undefined }
}

export type IndexEvent =
  | { readonly kind: 'log'; readonly line: string }
  /** The collections whose directories exist; sent once at the start and at every change. */
  | { readonly kind: 'present'; readonly names: readonly string[] }
  | ({ readonly kind: 'changed' } & Changes)

/** The messages from the thread that answers to the one that writes the index. */
export type WriterCalls = Pick<IndexCalls, 'collections' | 'close'>

export type WriterEvent =
  | IndexEvent
  /** The file can be read from now on; `temporary` is a directory to remove when it is open. */
  | { readonly kind: 'opened'; readonly file: string; readonly temporary?: string }
  | ({ readonly kind: 'standing' } & DocumentIndexState)

/** The state of the index, which results mention where they are incomplete. */
export interface DocumentIndexState {
  readonly served: readonly ServedCollection[]
  /** Whether there is a whole index to search, or none that is being made. */
  readonly settled: boolean
  /** Whether this process has looked through everything. */
  readonly looked: boolean
  /** There would have been more than the limits allow. */
  readonly truncated: boolean
  readonly documents: number
}

export interface ServedCollection {
  readonly name: string
  /** Its number in the index. */
  readonly id: number
  readonly directory: string
  /** Without links; null while it is not there. */
  readonly real: string | null
  readonly present: boolean
}

/** Which known documents changed, by URI, and whether documents were added or removed. */
export interface Changes {
  readonly updated: readonly string[]
  readonly listChanged: boolean
}
