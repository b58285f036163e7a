/** Reads of the journal by those who can wait: what a disk refuses for a moment is asked for again. */
import { isParleyError } from '../../errors/parley-error.ts'
import type { Clock } from '../../ports/clock.ts'
import { RETRY_MS } from './writer-recovery.ts'

/** With the pauses between them ten seconds: a client that waits longer for nothing should hear why. */
const TRIES = 11

/** Throws what `read` throws at last; at once unless it is JOURNAL_IO, and once the result is not wanted any more. */
export async function readPatiently<Result>(
  clock: Pick<Clock, 'sleep'>,
  read: () => Promise<Result>,
  isWanted: () => boolean = () => true,
): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await read()
    } catch (error) {
      if (tries === TRIES || !isParleyError(error, 'JOURNAL_IO') || !isWanted()) throw error
    }
    await clock.sleep(RETRY_MS)
  }
}
