/** What every command that prompts has in common: an owner in this process, until the work is done or must stop. */
import type { Client, Face } from '../client/connect.ts'
import type { Config } from '../config/schema.ts'
import { attach } from './attach.ts'
import { type Stops, watchStops } from './stops.ts'

export interface Working {
  readonly client: Client
  readonly stops: Stops
}

/** Resolves with the exit code: that of the work, or of what stopped it. */
export async function workWith(
  config: Config,
  face: Face,
  work: (working: Working) => Promise<number>,
): Promise<number> {
  const stops = watchStops()
  try {
    const attached = await attach(config, face)
    const close = (): void => void attached.close().catch(() => undefined)
    stops.signal.addEventListener('abort', close)
    try {
      if (stops.signal.aborted) return stops.signal.reason as number
      return await work({ client: attached.client, stops })
    } catch (error) {
      // Whatever fails after we were told to stop failed because of that.
      if (stops.signal.aborted) return stops.signal.reason as number
      throw error
    } finally {
      await attached.close()
    }
  } finally {
    stops.release()
  }
}
