/** Errors of the server and of the client, and answers that came too late, as sentences. */
import type { PermissionOption } from '../../client/incoming/updates.ts'
import type { CountedAnswer } from '../../client/sessions/stored-sessions.ts'
import { words } from '../i18n/language.ts'
import { spelledOut } from '../markdown/invisible.ts'

/** The code that the server gave an error. */
export function codeOf(error: unknown): unknown {
  return (error as { readonly details?: { readonly code?: unknown } }).details?.code
}

/** The sentence of an error; those of the server and of the client are made to be read. */
export function sentenceOf(error: unknown): string {
  const { details, message } = error as { readonly details?: { readonly reason?: unknown }; readonly message?: string }
  return typeof details?.reason === 'string' ? details.reason : (message ?? String(error))
}

/** Another client has answered before. */
export function firstAnswer({ outcome, by }: CountedAnswer, options: readonly PermissionOption[]): string {
  const { answeredFirst, answeredNone } = words()
  const name = options.find(({ optionId }) => optionId === outcome.optionId)?.name
  return answeredFirst(
    by === undefined ? undefined : spelledOut(by),
    name === undefined ? answeredNone : spelledOut(name),
  )
}
