/** Where a client goes on that had the session before, as it says in the `_meta` of `session/load` and `session/resume`. */
import { fail } from '../../../../errors/parley-error.ts'
import type { Session } from '../../../../session/session.ts'
import type { AdoptedPrompt } from '../attachment/pending-prompts.ts'
import type { Parsed } from './params.ts'

export type ResumeParams = Pick<Parsed<'session/load'>, '_meta'>

/** The cursor that the client goes on from, if it names one. Throws CURSOR_BEYOND. */
export function startOf({ _meta }: ResumeParams, { id, state }: Session): number | undefined {
  const after = _meta?.['parley/after'] ?? undefined
  if (after !== undefined && after > state.seq) fail('CURSOR_BEYOND', { session: id, after, head: state.seq })
  return after
}

/** Its prompts that have had no answer. */
export function adoptedIn({ _meta }: ResumeParams): readonly AdoptedPrompt[] {
  return _meta?.['parley/prompts'] ?? []
}
