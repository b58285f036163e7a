/** Keeps a list of tools true: listed again whenever the server says that it changed, or may have said so unheard. */
import type { Client } from '@modelcontextprotocol/client'
import type { Clock } from '../../../ports/clock.ts'
import { isUnreachable } from './call.ts'

export interface FollowOptions {
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly onChanged: () => void
  readonly onGone: (reason: string) => void
}

const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 30_000
/** A server that refuses this often says that it will not tell us. */
const MOST_REFUSALS = 5

export function followChanges(client: Client, options: FollowOptions): void {
  if (client.getServerCapabilities()?.tools?.listChanged !== true) return
  client.setNotificationHandler('notifications/tools/list_changed', options.onChanged)
  // Older servers tell without being asked.
  if (client.getProtocolEra() === 'modern') void listen(client, options)
}

/** The newest protocol tells only those who listen, and forgets them when the stream breaks. */
async function listen(client: Client, { clock, signal, onChanged, onGone }: FollowOptions): Promise<void> {
  let refusals = 0
  for (let round = 0; !signal.aborted && refusals < MOST_REFUSALS; round++) {
    try {
      const subscription = await client.listen({ toolsListChanged: true }, { signal })
      refusals = 0
      if (round > 0) onChanged()
      if ((await subscription.closed) === 'local') return
    } catch (error) {
      if (isUnreachable(error)) return onGone('the server cannot be reached any more')
      refusals++
    }
    const pause = Math.min(FIRST_PAUSE_MS * 2 ** refusals, LONGEST_PAUSE_MS)
    // The connection ended in the meantime: there is nothing left to follow.
    await clock.sleep(pause, signal).catch(() => undefined)
  }
}
