/** What cannot be done with a path, in a sentence that says what to do instead. */
import { fail } from '../errors/parley-error.ts'

export function refuse(reason: string, cause?: unknown): never {
  return fail('FILE_REFUSED', { reason }, cause)
}
