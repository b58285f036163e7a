/** Waiting for a server ends with the cancellation of the call. */
import { unlessAborted } from '../../../async/abort.ts'
import { ParleyError } from '../../../errors/parley-error.ts'
import type { CallOptions } from './mcp-types.ts'

/** Throws TOOL_NOT_RUN once the call is cancelled. */
export function unlessCancelled<Result>(work: Promise<Result>, { signal, name }: CallOptions): Promise<Result> {
  const reason = 'it was cancelled before it began'
  return unlessAborted(work, signal, () => new ParleyError('TOOL_NOT_RUN', { tool: name, reason }))
}
