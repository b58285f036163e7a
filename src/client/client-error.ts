/** The errors that a client raises. A refusal of the other side is one of them, with the code and the sentence that came over the wire. */
import { clientRows } from '../errors/rows/client-rows.ts'
import { CodedError } from '../errors/coded-error.ts'
import type { ErrorRow } from '../errors/row.ts'

export type ClientErrorCode = keyof typeof clientRows

/** The details of an error of this code. */
export type ClientErrorDetails<Code extends ClientErrorCode> = Parameters<(typeof clientRows)[Code]['sentence']>[0]

export class ClientError<Code extends ClientErrorCode = ClientErrorCode> extends CodedError<
  Code,
  ClientErrorDetails<Code>
> {
  constructor(code: Code, details: ClientErrorDetails<Code>, cause?: unknown) {
    super(code, clientRows[code] as unknown as ErrorRow<ClientErrorDetails<Code>>, { details, cause })
    this.name = 'ClientError'
  }
}

export function fail<Code extends ClientErrorCode>(
  code: Code,
  details: ClientErrorDetails<Code>,
  cause?: unknown,
): never {
  throw new ClientError(code, details, cause)
}

export function isClientError<Code extends ClientErrorCode>(error: unknown, code?: Code): error is ClientError<Code> {
  return error instanceof ClientError && (code === undefined || error.code === code)
}

/** Whether a request was lost with its connection, and not refused. */
export function isLost(error: unknown): boolean {
  return isClientError(error, 'CONNECTION_LOST')
}

/** Throws CAPABILITY_MISSING: a method that the other side has not advertised is never called. */
export function requireOffered(method: string, isOffered: boolean): void {
  if (!isOffered) fail('CAPABILITY_MISSING', { method })
}
