/** The error responses of an agent, and the sentences that users get for them. */
import { fieldsOf, singleLine, type ResponseError } from '../../../../rpc/json-rpc.ts'
import type { ErrorPattern } from '../quirks.ts'

/** JSON-RPC's and ACP's own codes. */
export const LOGIN_NEEDED = -32_000
export const NOT_FOUND = -32_002
export const METHOD_UNKNOWN = -32_601
export const PARAMS_INVALID = -32_602

/** Of an error's data that people are shown. */
const MAX_DATA_CHARS = 2_048

/** The agent answered a request with an error. */
export class WireError extends Error {
  /** Absent where the agent gave no number. */
  readonly code: number | undefined
  readonly data: unknown

  constructor({ message, number, data }: ResponseError) {
    super(message ?? 'it gave no reason')
    this.code = number
    this.data = data
  }

  /** All that the agent said, on one line. */
  get words(): string {
    const code = this.code === undefined ? '' : ` (code ${this.code})`
    return `${singleLine(this.message)}${code}${this.#dataWords()}`
  }

  fits({ code, text }: ErrorPattern): boolean {
    if (code !== undefined && code !== this.code) return false
    return text === undefined || `${this.message} ${jsonOf(this.data)}`.toLowerCase().includes(text.toLowerCase())
  }

  #dataWords(): string {
    const { code: _shown, ...rest } = fieldsOf(this.data)
    const data = typeof this.data === 'string' ? this.data : Object.keys(rest).length === 0 ? '' : jsonOf(rest)
    return data === '' || data === this.message ? '' : `: ${singleLine(data.slice(0, MAX_DATA_CHARS))}`
  }
}

function jsonOf(value: unknown): string {
  return value === undefined ? '' : JSON.stringify(value)
}
