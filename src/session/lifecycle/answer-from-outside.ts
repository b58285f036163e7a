/** An answer to a permission request that comes from outside the session: from a list, a notification, another program. */
import { fail, isParleyError } from '../../errors/parley-error.ts'
import type { Journal, SessionId } from '../../ports/journal.ts'
import type { CountedAnswer, OutsideAnswer, SessionHandle } from '../handle.ts'
import { resolutionOf } from '../log/find-entries.ts'

interface Answered {
  readonly id: SessionId
  readonly journal: Pick<Journal, 'find'>
  /** Undefined where nothing can be open. */
  readonly session: Pick<SessionHandle, 'dispatch' | 'snapshot'> | undefined
}

/**
 * The first valid answer counts; a later or repeated answer gets the one that counted. Throws PERMISSION_UNKNOWN
 * and PERMISSION_OPTION_UNKNOWN.
 */
export async function answerFromOutside(
  { id, journal, session }: Answered,
  { requestId, optionId, by }: OutsideAnswer,
): Promise<CountedAnswer> {
  const question = (await session?.snapshot())?.questions.find((open) => open.requestId === requestId)
  if (session !== undefined && question !== undefined) {
    const option = question.options.find((offered) => offered.optionId === optionId)
    if (option === undefined) {
      const offered = question.options.map((one) => one.optionId).join(', ')
      return fail('PERMISSION_OPTION_UNKNOWN', { option: optionId, request: requestId, offered })
    }
    try {
      await session.dispatch({ kind: 'answer', requestId, optionId, by })
      return { counted: true, outcome: { outcome: 'selected', optionId, kind: option.kind }, by }
    } catch (error) {
      // Another client was first.
      if (!isParleyError(error, 'PERMISSION_UNKNOWN')) throw error
    }
  }
  const resolved = await resolutionOf(journal, id, requestId)
  if (resolved === undefined) return fail('PERMISSION_UNKNOWN', { request: requestId })
  const { outcome, by: first } = resolved
  const counted = outcome.outcome === 'selected' && outcome.optionId === optionId && first === by
  return { counted, outcome, ...(first !== undefined && { by: first }) }
}
