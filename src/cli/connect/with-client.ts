/** The common part of all commands that use the server: a connection, until the work is done or must stop. */
import type { Client } from '../../client/client.ts'
import type { ClientDelegate } from '../../client/client-delegate.ts'
import { type ConnectOptions, openAgentConnection } from './connect.ts'
import { type Stops, watchStops } from '../runtime/shutdown-signals.ts'

export interface ConnectedCommand {
  readonly client: Client
  readonly stops: Stops
}

/** Resolves with the exit code: that of the work, or of what stopped it. */
export async function workWith(
  reaching: ConnectOptions,
  face: ClientDelegate,
  work: (working: ConnectedCommand) => Promise<number>,
): Promise<number> {
  const stops = watchStops()
  try {
    const reached = await openAgentConnection({ ...reaching, signal: stops.signal }, face)
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
    // An error after the stop signal is caused by it.
    if (stops.signal.aborted) return stops.signal.reason as number
    throw error
  } finally {
    stops.release()
  }
}

/** For commands that show nothing of a conversation. */
export const noDisplay: ClientDelegate = {
  updated: () => undefined,
  // Questions wait for another client that can answer.
  ask: () => new Promise(() => undefined),
}
