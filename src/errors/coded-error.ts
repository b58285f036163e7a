/**
 * The base of our errors, with the fields that programs and people read. Needs no catalogue, so that a client in a browser
 * can use it.
 */
import type { ErrorRow } from './row.ts'

export class CodedError<Code extends string = string, Details = object> extends Error {
  readonly code: Code
  readonly details: Details
  /** The JSON-RPC code that a protocol edge answers with. */
  readonly rpc: number
  readonly retryable: boolean

  constructor(
    code: Code,
    row: ErrorRow<Details>,
    { details, cause }: { readonly details: Details; readonly cause: unknown },
  ) {
    super(row.sentence(details), cause === undefined ? undefined : { cause })
    this.code = code
    this.details = details
    this.rpc = row.rpc
    this.retryable = row.retryable
  }
}
