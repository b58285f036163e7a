/** What a process does that has lost the state which it owned. */
import { FAILED } from './exit.ts'

/** As after kill -9: clients notice, the guard ends the children, and the next owner recovers what was stored. */
export function dieAtOnce(why: string | undefined, remedy: string): never {
  const because = why ?? 'its thread has ended; what was stored is safe'
  process.stderr.write(`parley: The journal was lost, because ${because}. ${remedy}\n`)
  process.exit(FAILED)
}

/** The remedy where owner and agent are in one process with whoever asked. */
export const EMBEDDED_REMEDY = 'Start this again to go on.'
