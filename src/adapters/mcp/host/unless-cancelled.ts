/** Waiting for a server ends with the wish for the call. */
import { fail } from '../../../errors/parley-error.ts'
import type { CallOptions } from './mcp-types.ts'

/** Throws TOOL_NOT_RUN once the call is cancelled. */
export async function unlessCancelled<Result>(work: Promise<Result>, { signal, name }: CallOptions): Promise<Result> {
  let stop = (): void => undefined
  const cancelled = new Promise<'cancelled'>((resolve) => {
    stop = () => resolve('cancelled')
    signal.addEventListener('abort', stop, { once: true })
  })
  if (signal.aborted) stop()
  const first = await Promise.race([cancelled, work])
  signal.removeEventListener('abort', stop)
  return first === 'cancelled'
    ? fail('TOOL_NOT_RUN', { tool: name, reason: 'it was cancelled before it began' })
    : first
}
