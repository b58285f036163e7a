/** Change notifications of a server: for its lists, and for single resources that were read. A broken subscription is opened again. */
import { ProtocolError, type Client } from '@modelcontextprotocol/client'
import { backoffMs } from '../../../../async/backoff.ts'
import type { Clock } from '../../../../ports/clock.ts'
import { isUnreachable } from '../request/request.ts'
import { LIST_KINDS, type ListKind, type ServerOffer } from '../../host/mcp-types.ts'

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

/** The resources that were read, and which of them have changed since. */
export class WatchedResources {
  readonly #client: Client
  readonly #options: WatchingOptions
  readonly #subscriptions: Subscriptions
  readonly #watched = new Set<string>()
  readonly #changed = new Set<string>()

  constructor(client: Client, options: WatchingOptions) {
    this.#client = client
    this.#options = options
    const mark = (uris: readonly string[]): void => this.#mark(uris)
    this.#subscriptions =
      client.getProtocolEra() === 'modern'
        ? new OneSubscription(client, options, mark)
        : new SingleSubscriptions(client)
    client.setNotificationHandler('notifications/resources/updated', ({ params }) =>
      this.#mark(this.watched().filter((one) => isWithin(params.uri, one))),
    )
  }

  watched(): readonly string[] {
    return [...this.#watched]
  }

  /** Subscribes before it reads, so that no change is missed in between. */
  async reading<Result>(uri: string, read: () => Promise<Result>): Promise<Result> {
    this.#watch(uri)
    try {
      return await read()
    } catch (error) {
      this.#forget(uri)
      throw error
    }
  }

  /** Watches resources that were read over an earlier connection and may have changed since. */
  resume(uris: readonly string[]): void {
    if (uris.length === 0 || !this.#isTold()) return
    for (const uri of uris) this.#watched.add(uri)
    this.#subscriptions.again(this.#watched)
    this.#mark(uris)
  }

  /** The offer, with a mark on each resource that changed since it was last read. */
  marked(offer: ServerOffer): ServerOffer {
    return this.#changed.size === 0 ? offer : { ...offer, resources: markedIn(offer.resources, this.#changed) }
  }

  /** Ends all subscriptions, without waiting for the server's answer. */
  end(): void {
    for (const uri of this.#watched) this.#subscriptions.remove(uri, new Set())
  }

  /** Clears the mark of an earlier change. */
  #watch(uri: string): void {
    if (!this.#isTold()) return
    if (this.#changed.delete(uri)) this.#options.onChanged()
    const isKnown = this.#watched.delete(uri)
    this.#watched.add(uri)
    if (isKnown) return
    this.#subscriptions.add(uri, this.#watched)
    const [oldest] = this.#watched
    if (this.#watched.size > MAX_WATCHED && oldest !== undefined) this.#forget(oldest)
  }

  #forget(uri: string): void {
    if (!this.#watched.delete(uri)) return
    this.#subscriptions.remove(uri, this.#watched)
    if (this.#changed.delete(uri)) this.#options.onChanged()
  }

  #mark(uris: readonly string[]): void {
    const before = this.#changed.size
    for (const uri of uris) this.#changed.add(uri)
    if (this.#changed.size > before) this.#options.onChanged()
  }

  /** Whether the server will report changes. */
  #isTold(): boolean {
    return !this.#options.signal.aborted && this.#client.getServerCapabilities()?.resources?.subscribe === true
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
function markedIn(listed: ServerOffer['resources'], changed: ReadonlySet<string>): ServerOffer['resources'] {
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
class SingleSubscriptions implements Subscriptions {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  add(uri: string): void {
    this.#client.subscribeResource({ uri }).catch(() => undefined)
  }

  remove(uri: string): void {
    this.#client.unsubscribeResource({ uri }).catch(() => undefined)
  }

  again(all: ReadonlySet<string>): void {
    for (const uri of all) this.add(uri)
  }
}

/** Modern: one subscription for all resources. The next one is open before the former one ends. */
class OneSubscription implements Subscriptions {
  readonly #client: Client
  readonly #options: WatchingOptions
  readonly #mark: (uris: readonly string[]) => void
  #current: AbortController | undefined

  constructor(client: Client, options: WatchingOptions, mark: (uris: readonly string[]) => void) {
    this.#client = client
    this.#options = options
    this.#mark = mark
  }

  add(_uri: string, all: ReadonlySet<string>): void {
    this.again(all)
  }

  remove(_uri: string, all: ReadonlySet<string>): void {
    this.again(all)
  }

  again(all: ReadonlySet<string>): void {
    const { clock, signal, onGone } = this.#options
    const before = this.#current
    const uris = [...all]
    const onOpen = (): void => before?.abort()
    this.#current = uris.length === 0 ? undefined : new AbortController()
    if (this.#current === undefined) return onOpen()
    const over = AbortSignal.any([signal, this.#current.signal])
    // Changes during the interruption were not reported.
    const onBack = (): void => this.#mark(uris)
    void keepListening(this.#client, { resourceSubscriptions: uris }, { clock, signal: over, onGone, onOpen, onBack })
  }
}
