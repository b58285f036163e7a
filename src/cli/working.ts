/** What every command that speaks to the server has in common: a connection, until the work is done or must stop. */
import type { Client } from '../client/connect.ts'
import type { Face } from '../client/face.ts'
import { type Reaching, reach } from './reach.ts'
import { type Stops, watchStops } from './stops.ts'

export interface Working {
  readonly client: Client
  readonly stops: Stops
}

/** Resolves with the exit code: that of the work, or of what stopped it. */
export async function workWith(
  reaching: Reaching,
  face: Face,
  work: (working: Working) => Promise<number>,
): Promise<number> {
  const stops = watchStops()
  try {
    const reached = await reach({ ...reaching, signal: stops.signal }, face)
    const close = (): void => void reached.close().catch(() => undefined)
    stops.signal.addEventListener('abort', close)
    try {
      if (stops.signal.aborted) return stops.signal.reason as number
      return await work({ client: reached.client, stops })
    } catch (error) {
      throw (await reached.explain?.(error)) ?? error
    } finally {
      await reached.close()
    }
  } catch (error) {
    // Whatever fails after we were told to stop failed because of that.
    if (stops.signal.aborted) return stops.signal.reason as number
    throw error
  } finally {
    stops.release()
  }
}

/** For commands that show nothing of a conversation. */
export const nobody: Face = {
  updated: () => undefined,
  // Questions wait for somebody who can answer.
  ask: () => new Promise(() => undefined),
}
