/** Waits that end with a sentence, before the time of a test ends, which has none. */
import { type EventEmitter, once } from 'node:events'

/** Whatever takes longer does not come, on a loaded machine too. Less than the time of a test, which has no words for it. */
export const PATIENCE_MS = 90_000

/** `once` of `node:events`, which waits for ever. `over` ends it too. */
export async function onceSoon(emitter: EventEmitter, event: string, over?: AbortSignal): Promise<readonly unknown[]> {
  const late = AbortSignal.timeout(PATIENCE_MS)
  try {
    return await once(emitter, event, { signal: over === undefined ? late : AbortSignal.any([late, over]) })
  } catch (error) {
    if (late.aborted) throw new Error(`no ${event} within ${PATIENCE_MS} ms`, { cause: error })
    throw error
  }
}
