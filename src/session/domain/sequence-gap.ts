/** What is said when a journal does not continue where it should: stored entries never have holes, so the file is damaged. */
import { ParleyError } from '../../errors/parley-error.ts'

export function sequenceGapError(
  state: { readonly id: string; readonly seq: number },
  entry: { readonly seq: number; readonly kind: string },
): ParleyError {
  const reason = `session ${state.id} goes from entry ${state.seq} to ${entry.seq} (${entry.kind})`
  return new ParleyError('JOURNAL_CORRUPT', { path: 'of the sessions', reason })
}
