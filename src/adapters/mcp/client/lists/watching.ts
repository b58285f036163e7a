/** Watches the resources that were read, where the server tells of changes: whoever read one should know that it is another now. */
import type { Client } from '@modelcontextprotocol/client'
import type { Clock } from '../../../../ports/clock.ts'
import type { Offer } from '../../host/mcp-types.ts'
import { keepListening } from './follow.ts'

export interface Watching {
  /** Called before `uri` is read; what it told of it before is old news then. */
  watch(uri: string): void
  /** They were read over another connection, and may have changed since. */
  resume(uris: readonly string[]): void
  watched(): readonly string[]
  /** It could not be read. */
  forget(uri: string): void
  /** The offer, with a mark on each resource that has changed since it was last read. */
  marked(offer: Offer): Offer
  /** Tells the server that nobody watches any more. Nobody waits for its answer. */
  end(): void
}

export interface WatchingOptions {
  readonly clock: Clock
  /** Aborts when the connection ends. */
  readonly signal: AbortSignal
  /** The marks are others now. */
  readonly onChanged: () => void
  readonly onGone: (reason: string) => void
}

/** Whoever reads more than this has the latest of them watched. */
const MOST = 100

export function watchResources(client: Client, options: WatchingOptions): Watching {
  const watched = new Set<string>()
  const changed = new Set<string>()
  const subscriptions = client.getProtocolEra() === 'modern' ? oneStream(client, options, mark) : each(client)

  function isTold(): boolean {
    return client.getServerCapabilities()?.resources?.subscribe === true
  }

  function mark(uris: readonly string[]): void {
    const before = changed.size
    for (const uri of uris) changed.add(uri)
    if (changed.size > before) options.onChanged()
  }

  function forget(uri: string): void {
    if (!watched.delete(uri)) return
    subscriptions.remove(uri, watched)
    if (changed.delete(uri)) options.onChanged()
  }

  client.setNotificationHandler('notifications/resources/updated', ({ params }) =>
    mark([...watched].filter((one) => isWithin(params.uri, one))),
  )
  return {
    watch(uri) {
      if (!isTold() || options.signal.aborted) return
      if (changed.delete(uri)) options.onChanged()
      if (watched.delete(uri)) return void watched.add(uri)
      watched.add(uri)
      subscriptions.add(uri, watched)
      const [oldest] = watched
      if (watched.size > MOST && oldest !== undefined) forget(oldest)
    },
    resume(uris) {
      if (uris.length === 0 || !isTold() || options.signal.aborted) return
      for (const uri of uris) watched.add(uri)
      subscriptions.again(watched)
      mark(uris)
    },
    watched: () => [...watched],
    forget,
    marked: (offer) => (changed.size === 0 ? offer : { ...offer, resources: markedIn(offer.resources, changed) }),
    end() {
      for (const uri of watched) subscriptions.remove(uri, new Set())
    },
  }
}

/** A server may say which part of a resource has changed. */
function isWithin(uri: string, resource: string): boolean {
  return (
    uri === resource ||
    (uri.startsWith(resource) && (resource.endsWith('/') || /^[/?#]/.test(uri.slice(resource.length))))
  )
}

/** One that no list has may have been read all the same. */
function markedIn(listed: Offer['resources'], changed: ReadonlySet<string>): Offer['resources'] {
  const known = new Set(listed.map(({ uri }) => uri))
  const unlisted = [...changed].filter((uri) => !known.has(uri))
  return [
    ...listed.map((one) => (changed.has(one.uri) ? { ...one, changed: true as const } : one)),
    ...unlisted.map((uri) => ({ uri, title: uri, description: '', changed: true as const })),
  ]
}

interface Subscriptions {
  add(uri: string, all: ReadonlySet<string>): void
  remove(uri: string, all: ReadonlySet<string>): void
  /** All of them, over a new connection. */
  again(all: ReadonlySet<string>): void
}

/** What a server does not want to tell is not told: the resource was read all the same. */
function each(client: Client): Subscriptions {
  const add = (uri: string): void => void client.subscribeResource({ uri }).catch(() => undefined)
  return {
    add,
    again: (all) => [...all].forEach(add),
    remove: (uri) => void client.unsubscribeResource({ uri }).catch(() => undefined),
  }
}

/** The newest protocol has one stream for all; the next one stands before the one before it ends. */
function oneStream(
  client: Client,
  { clock, signal, onGone }: WatchingOptions,
  mark: (uris: readonly string[]) => void,
): Subscriptions {
  let current: AbortController | undefined

  function listenTo(all: ReadonlySet<string>): void {
    const before = current
    const uris = [...all]
    current = uris.length === 0 ? undefined : new AbortController()
    const end = (): void => before?.abort()
    if (current === undefined) return end()
    const over = AbortSignal.any([signal, current.signal])
    // Nobody told of what changed while the stream was broken.
    const onBack = (): void => mark(uris)
    void keepListening(client, { resourceSubscriptions: uris }, { clock, signal: over, onGone, onOpen: end, onBack })
  }

  return { add: (_uri, all) => listenTo(all), remove: (_uri, all) => listenTo(all), again: listenTo }
}
