/** What the checker and its threads say to each other. */
import type { JsonObject } from './json.ts'

/** Checks a value against a schema; the schema comes with the first value that a thread checks against it. */
export interface SchemaJob {
  readonly kind: 'schema'
  readonly key: number
  readonly schema: JsonObject | undefined
  readonly value: unknown
}

export interface SchemaAnswer {
  /** What is wrong with the value. */
  readonly wrong: string | undefined
  /** What is wrong with the schema. */
  readonly fault: string | undefined
}

/** Finds the lines of a text that a regular expression matches. */
export interface LinesJob {
  readonly kind: 'lines'
  readonly source: string
  readonly flags: string
  readonly text: string
  /** Matching lines at most. */
  readonly most: number
  /** Lines to show before and after each of them. */
  readonly around: number
}

export interface FoundLine {
  /** From 1. */
  readonly line: number
  /** False for one that only stands near a match. */
  readonly isMatch: boolean
  /** Of a long line, what is around the match. */
  readonly text: string
}

/** What a thread posts: first that it is ready, then an answer for each job. */
export type Posted = 'ready' | SchemaAnswer | readonly FoundLine[]
