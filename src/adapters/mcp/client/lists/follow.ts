/** Hears what a server says of its lists, and keeps listening to one that tells only those who listen. */
import { ProtocolError, type Client } from '@modelcontextprotocol/client'
import type { Clock } from '../../../../ports/clock.ts'
import { KINDS, type Kind } from './listing.ts'
import { isUnreachable } from '../request/request.ts'

export interface FollowOptions {
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly onChanged: (kind: Kind) => void
  readonly onGone: (reason: string) => void
}

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 30_000
/** A server that refuses this often says that it will not tell us. */
const MOST_REFUSALS = 5
const FILTERS = {
  tools: { toolsListChanged: true },
  resources: { resourcesListChanged: true },
  prompts: { promptsListChanged: true },
} as const

export function followChanges(client: Client, options: FollowOptions): void {
  // Some say it without having announced that they would.
  client.setNotificationHandler('notifications/tools/list_changed', () => options.onChanged('tools'))
  client.setNotificationHandler('notifications/resources/list_changed', () => options.onChanged('resources'))
  client.setNotificationHandler('notifications/prompts/list_changed', () => options.onChanged('prompts'))
  const announced = KINDS.filter((kind) => client.getServerCapabilities()?.[kind]?.listChanged === true)
  // Older servers tell without being asked.
  if (client.getProtocolEra() !== 'modern' || announced.length === 0) return
  const filter = Object.assign({}, ...announced.map((kind) => FILTERS[kind])) as object
  void keepListening(client, filter, { ...options, onBack: () => announced.forEach(options.onChanged) })
}

export interface ListenOptions extends Omit<FollowOptions, 'onChanged'> {
  /** It listens, for the first time or again. */
  readonly onOpen?: () => void
  /** It listens again: what was told meanwhile is lost. */
  readonly onBack: () => void
}

type Filter = Parameters<Client['listen']>[0]

/** The newest protocol tells only those who listen, and forgets them when the stream breaks. */
export async function keepListening(client: Client, filter: Filter, options: ListenOptions): Promise<void> {
  const { clock, signal, onGone, onOpen, onBack } = options
  let refusals = 0
  let failures = 0
  for (let round = 0; !signal.aborted && refusals < MOST_REFUSALS; round++) {
    try {
      const subscription = await client.listen(filter, { signal })
      refusals = failures = 0
      onOpen?.()
      if (round > 0) onBack()
      if ((await subscription.closed) === 'local') return
    } catch (error) {
      if (isUnreachable(error)) return onGone('the server cannot be reached any more')
      failures++
      if (error instanceof ProtocolError) refusals++
    }
    const pause = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(failures, 10), LONGEST_PAUSE_MS)
    // The connection ended in the meantime: there is nothing left to follow.
    await clock.sleep(pause, signal).catch(() => undefined)
  }
}
