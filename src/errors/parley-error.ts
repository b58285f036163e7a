/** The one error class, and the one way to throw it. */
import { catalogue, type ErrorCode, type ErrorDetails } from './catalogue.ts'

export class ParleyError<Code extends ErrorCode = ErrorCode> extends Error {
  readonly code: Code
  readonly details: ErrorDetails<Code>

  constructor(code: Code, details: ErrorDetails<Code>, cause?: unknown) {
    const sentence = catalogue[code].sentence as (details: ErrorDetails<Code>) => string
    super(sentence(details), cause === undefined ? undefined : { cause })
    this.name = 'ParleyError'
    this.code = code
    this.details = details
  }

  /** The JSON-RPC code that a protocol edge answers with. */
  get rpc(): number {
    return catalogue[this.code].rpc
  }

  get retryable(): boolean {
    return catalogue[this.code].retryable
  }
}

/** Throws the catalogue's error. */
export function fail<Code extends ErrorCode>(code: Code, details: ErrorDetails<Code>, cause?: unknown): never {
  throw new ParleyError(code, details, cause)
}

export function isParleyError<Code extends ErrorCode>(error: unknown, code?: Code): error is ParleyError<Code> {
  return error instanceof ParleyError && (code === undefined || error.code === code)
}

/** One line about any thrown thing, for a person; never a stack. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.split('\n', 1)[0] ?? ''
}
