/** The server's error class, and the one way to throw it. */
import { catalogue, type ErrorCode, type ErrorDetails } from './catalogue.ts'
import { CodedError } from './coded-error.ts'
import { type ErrorRow, INTERNAL } from './row.ts'

export class ParleyError<Code extends ErrorCode = ErrorCode> extends CodedError<Code, ErrorDetails<Code>> {
  constructor(code: Code, details: ErrorDetails<Code>, cause?: unknown) {
    super(code, catalogue[code] as unknown as ErrorRow<ErrorDetails<Code>>, { details, cause })
    this.name = 'ParleyError'
  }
}

/** The JSON-RPC code of a stored error; a code of another version of Parley has none of its own. */
export function rpcCodeOf(code: string): number {
  return Object.hasOwn(catalogue, code) ? catalogue[code as ErrorCode].rpc : INTERNAL
}

/** Throws the catalogue's error. */
export function fail<Code extends ErrorCode>(code: Code, details: ErrorDetails<Code>, cause?: unknown): never {
  throw new ParleyError(code, details, cause)
}

/** Whether an error is one of ours. Those of a client count: their codes are rows of the catalogue as well. */
export function isParleyError<Code extends ErrorCode>(error: unknown, code?: Code): error is ParleyError<Code> {
  return error instanceof CodedError && (code === undefined || error.code === code)
}

/** What a turn that this error has ended keeps of its details: all of them, or nothing. */
export function storedDetails(error: unknown): { readonly details?: Readonly<Record<string, unknown>> } {
  if (!isParleyError(error)) return {}
  const { storesDetails }: ErrorRow<never> = catalogue[error.code]
  return storesDetails === true ? { details: { ...error.details } } : {}
}

/** One line about any thrown value, for a user; never a stack. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.split('\n', 1)[0] ?? ''
}
