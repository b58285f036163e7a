/** What a process does that has lost the state which it owned. */
import { FAILED } from './exit.ts'

/** As after kill -9: clients notice, the guard ends the children, and the next owner recovers what was stored. */
export function dieAtOnce(remedy: string): never {
  process.stderr.write(`parley: The journal was lost, because its thread has ended. ${remedy}\n`)
  process.exit(FAILED)
}

/** The remedy where owner and agent are in one process with whoever asked. */
export const EMBEDDED_REMEDY = 'What was stored is safe; start this again to go on.'
