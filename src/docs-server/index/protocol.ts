/** What the server asks of its index worker, and what the worker tells by itself. */
import type { ErrorCode } from '../../errors/catalogue.ts'

export interface IndexLimits {
  readonly files: number
  readonly bytes: number
}

export interface IndexOptions {
  /** As the user named them; resolved against the working directory. */
  readonly directories: readonly string[]
  readonly limits: IndexLimits
  /** Looks for changes every two seconds instead of asking the system, as network file systems need it. */
  readonly poll: boolean
}

/** UTF-16 offsets into the snippet, the end not included. */
export type Highlight = readonly [start: number, end: number]

/** A passage that a query found. `line` is that of the first match, `uri` leads to the passage's first line. */
export interface PassageHit {
  readonly title: string
  readonly headingPath: readonly string[]
  /** Relative to its directory. */
  readonly file: string
  readonly line: number
  readonly snippet: string
  readonly highlights: readonly Highlight[]
  readonly score: number
  readonly uri: string
}

/** A document in which a query's words all occur. `id` stays the same as long as the server runs. */
export interface DocumentHit {
  readonly id: number
  readonly title: string
  readonly file: string
  readonly directory: { readonly id: number; readonly label: string; readonly path: string }
  readonly snippet: string
  readonly created: string
  readonly modified: string
}

export interface Page<Hit> {
  readonly total: number
  readonly hits: readonly Hit[]
  /** Counts the changes of the index; pages of different generations do not fit together. */
  readonly generation: number
  /** What a reader must know of the index to trust the result: a limit that was reached, a directory that is gone. */
  readonly notice?: string
}

export interface Excerpt {
  readonly uri: string
  readonly title: string
  readonly file: string
  /** The line of the first character. */
  readonly line: number
  readonly text: string
  /** UTF-16 offsets into the whole document. */
  readonly offset: number
  readonly nextOffset?: number
  readonly totalCharacters: number
}

export interface SearchRequest {
  readonly query: string
  readonly offset: number
  readonly limit: number
}

export interface ReadRequest {
  readonly uri: string
  readonly section?: string
  readonly offset?: number
  readonly limit: number
}

/** Every call waits for the first index and throws what the catalogue says. */
export interface DocumentIndex {
  passages(request: SearchRequest): Promise<Page<PassageHit>>
  documents(request: SearchRequest): Promise<Page<DocumentHit>>
  read(request: ReadRequest): Promise<Excerpt>
}

export type Operation = keyof DocumentIndex

export interface Call {
  readonly id: number
  readonly operation: Operation
  readonly request: SearchRequest | ReadRequest
}

export type ToWorker = Call | 'close'

export type FromWorker =
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'failure'; readonly id: number; readonly code: ErrorCode; readonly details: object }
  | { readonly kind: 'log'; readonly line: string }
  /** Which of the served directories are there; told once at the start and at every change. */
  | { readonly kind: 'directories'; readonly present: readonly boolean[] }
