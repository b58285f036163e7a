/** Ends a process that has lost the state directory which it owned. */
import { FAILED } from '../runtime/exit-codes.ts'
import { complain } from '../say.ts'

/** As after kill -9: clients notice, the guard ends the children, and the next owner recovers what was stored. */
export function dieAtOnce(why: string | undefined, remedy: string): never {
  const because = why ?? 'its thread has ended; what was stored is safe'
  complain(`The journal was lost, because ${because}. ${remedy}`)
  process.exit(FAILED)
}

/** The remedy for an embedded server. */
export const EMBEDDED_REMEDY = 'Run the command again to continue.'
