/** Everyone who is attached to a live session: each is told on its own, and nobody's trouble is another's. */
import type { Notice } from '../../ports/content.ts'
import type { Entry } from '../domain/entries.ts'
import type { Change, Subscription } from './subscription.ts'

/** A program at the other end, as it calls itself. */
export interface SubscribedClient {
  readonly name: string
  readonly title?: string
  readonly version?: string
}

interface Member {
  readonly client: SubscribedClient
  /** The question that it has no answer to. */
  declined: string | undefined
}

export class Subscribers {
  readonly #members = new Map<Subscription, Member>()
  readonly #report: (error: unknown) => void

  constructor(report: (error: unknown) => void) {
    this.#report = report
  }

  get size(): number {
    return this.#members.size
  }

  /** In the order in which they came. */
  get clients(): readonly (readonly [Subscription, SubscribedClient])[] {
    return [...this.#members].map(([feed, { client }]) => [feed, client])
  }

  join(feed: Subscription, client: SubscribedClient = { name: 'unknown' }): void {
    this.#members.set(feed, { client, declined: undefined })
    this.changed('presence')
  }

  leave(feed: Subscription): void {
    if (this.#members.delete(feed)) this.changed('presence')
  }

  publish(entries: readonly Entry[]): void {
    this.#each((feed) => feed.push(entries))
  }

  failed(error: unknown): void {
    this.#each((feed) => feed.failed(error))
  }

  notify(notice: Notice): void {
    this.#each((feed) => feed.notify(notice))
  }

  changed(what: Change): void {
    this.#each((feed) => feed.changed(what))
  }

  /** `feed` has no answer to this question. True when nobody who is here is left who might have one. */
  declines(feed: Subscription, requestId: string): boolean {
    const member = this.#members.get(feed)
    if (member === undefined) return false
    member.declined = requestId
    return [...this.#members.values()].every(({ declined }) => declined === requestId)
  }

  #each(tell: (feed: Subscription) => void): void {
    for (const feed of this.#members.keys()) {
      try {
        tell(feed)
      } catch (error) {
        // The journal has what this one missed.
        this.#report(error)
      }
    }
  }
}
