/** Change notifications of a server: for its lists, and for single resources that were read. A broken subscription is opened again. */
import { ProtocolError, type Client } from '@modelcontextprotocol/client'
import { backoffMs } from '../../../../async/backoff.ts'
import type { Clock } from '../../../../ports/clock.ts'
import { isUnreachable } from '../request/request.ts'
import { LIST_KINDS, type ListKind, type Offer } from '../../host/mcp-types.ts'

interface FollowOptions {
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly onChanged: (kind: ListKind) => void
  readonly onGone: (reason: string) => void
}

const BACKOFF = { firstMs: 500, longestMs: 30_000 }
/** After so many refusals the server is not asked again. */
const MAX_REFUSALS = 5
const FILTERS = {
  tools: { toolsListChanged: true },
  resources: { resourcesListChanged: true },
  prompts: { promptsListChanged: true },
} as const

export function followChanges(client: Client, options: FollowOptions): void {
  // Some servers send these without having announced the capability.
  client.setNotificationHandler('notifications/tools/list_changed', () => options.onChanged('tools'))
  client.setNotificationHandler('notifications/resources/list_changed', () => options.onChanged('resources'))
  client.setNotificationHandler('notifications/prompts/list_changed', () => options.onChanged('prompts'))
  const announced = LIST_KINDS.filter((kind) => client.getServerCapabilities()?.[kind]?.listChanged === true)
  // Legacy servers send them without a subscription.
  if (client.getProtocolEra() !== 'modern' || announced.length === 0) return
  const filter = Object.assign({}, ...announced.map((kind) => FILTERS[kind])) as object
  void keepListening(client, filter, { ...options, onBack: () => announced.forEach(options.onChanged) })
}

interface ListenOptions extends Omit<FollowOptions, 'onChanged'> {
  /** The subscription is open, for the first time or again. */
  readonly onOpen?: () => void
  /** The subscription is open again; notifications in between are lost. */
  readonly onBack: () => void
}

type Filter = Parameters<Client['listen']>[0]

/** In the newest protocol a server notifies only subscribers, and drops them when the stream breaks. */
async function keepListening(client: Client, filter: Filter, options: ListenOptions): Promise<void> {
  const { clock, signal, onGone, onOpen, onBack } = options
  let refusals = 0
  let failures = 0
  for (let round = 0; !signal.aborted && refusals < MAX_REFUSALS; round++) {
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
    const pause = backoffMs(failures + 1, BACKOFF)
    // The sleep ends early when the connection ends; the loop ends then too.
    await clock.sleep(pause, signal).catch(() => undefined)
  }
}

export interface Watching {
  /** Called before `uri` is read. Clears the mark of an earlier change. */
  watch(uri: string): void
  /** Watches resources that were read over an earlier connection and may have changed since. */
  resume(uris: readonly string[]): void
  watched(): readonly string[]
  /** Called when `uri` could not be read. */
  forget(uri: string): void
  /** The offer, with a mark on each resource that changed since it was last read. */
  marked(offer: Offer): Offer
  /** Ends all subscriptions, without waiting for the server's answer. */
  end(): void
}

interface WatchingOptions {
  readonly clock: Clock
  /** Aborts when the connection ends. */
  readonly signal: AbortSignal
  /** Called when the set of changed resources changes. */
  readonly onChanged: () => void
  readonly onGone: (reason: string) => void
}

/** The resources that were read last are watched. */
const MAX_WATCHED = 100

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
      if (watched.size > MAX_WATCHED && oldest !== undefined) forget(oldest)
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

/** A server may report the change of a part of a resource. */
function isWithin(uri: string, resource: string): boolean {
  return (
    uri === resource ||
    (uri.startsWith(resource) && (resource.endsWith('/') || /^[/?#]/.test(uri.slice(resource.length))))
  )
}

/** Resources that no list contains can be read too. */
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
  /** Subscribes to all of them over a new connection. */
  again(all: ReadonlySet<string>): void
}

/** Legacy: one subscription per resource. A refusal is ignored; the resource was read all the same. */
function each(client: Client): Subscriptions {
  const add = (uri: string): void => void client.subscribeResource({ uri }).catch(() => undefined)
  return {
    add,
    again: (all) => [...all].forEach(add),
    remove: (uri) => void client.unsubscribeResource({ uri }).catch(() => undefined),
  }
}

/** Modern: one stream for all resources. The next stream is open before the former one ends. */
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
    // Changes during the interruption were not reported.
    const onBack = (): void => mark(uris)
    void keepListening(client, { resourceSubscriptions: uris }, { clock, signal: over, onGone, onOpen: end, onBack })
  }

  return { add: (_uri, all) => listenTo(all), remove: (_uri, all) => listenTo(all), again: listenTo }
}
