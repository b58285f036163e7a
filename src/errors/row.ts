/** The shape of a row in the catalogue of errors. */

export interface ErrorRow<Details> {
  /** Names the event, the thing that it happened to, and the remedy. One line, no secrets. */
  readonly sentence: (details: Details) => string
  /** The JSON-RPC code that a protocol edge answers with. */
  readonly rpc: number
  readonly retryable: boolean
  /** They stay with a turn that this error has ended, and the response of its prompt has them: programs act on them. */
  readonly storesDetails?: true
}

export const INVALID_PARAMS = -32602
export const INTERNAL = -32603
export const INVALID_REQUEST = -32600
export const NOT_FOUND = -32002
export const AUTH_REQUIRED = -32000
export const CANCELLED = -32800

export function row<Details extends object = Record<never, never>>(
  rpc: number,
  retryable: boolean,
  sentence: (details: Details) => string,
): ErrorRow<Details> {
  return { sentence, rpc, retryable }
}

export function storingDetails<Details>(of: ErrorRow<Details>): ErrorRow<Details> {
  return { ...of, storesDetails: true }
}
