/** The messages between the checker and its threads. */
import type { JsonObject } from './json.ts'

/** Checks a value against a schema; the schema comes with the first value that a thread checks against it. */
export interface SchemaJob {
  readonly kind: 'schema'
  readonly key: number
  readonly schema: JsonObject | undefined
  readonly value: unknown
}

export interface SchemaAnswer {
  /** Why the value does not match, if it does not. */
  readonly wrong: string | undefined
  /** Why the schema cannot be used, if it cannot. */
  readonly fault: string | undefined
}

/** Finds the lines of a text that a regular expression matches. */
export interface LinesJob {
  readonly kind: 'lines'
  readonly source: string
  readonly flags: string
  readonly text: string
  /** Limit of matching lines. */
  readonly most: number
  /** Lines to show before and after each of them. */
  readonly around: number
}

export interface FoundLine {
  /** From 1. */
  readonly line: number
  /** False for a line of context. */
  readonly isMatch: boolean
  /** The part around the match, for a long line. */
  readonly text: string
}

/** The one event of a thread says that it is ready. */
export interface CheckCalls {
  readonly schema: { readonly ask: SchemaJob; readonly answer: SchemaAnswer }
  readonly lines: { readonly ask: LinesJob; readonly answer: readonly FoundLine[] }
}

export type Checked = SchemaAnswer | readonly FoundLine[]
