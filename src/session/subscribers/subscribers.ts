/** The subscriptions of a live session. Each gets every push on its own; a failure of one does not affect the others. */
import type { Notice } from '../../ports/content.ts'
import type { Entry } from '../domain/entries.ts'
import type { SessionView } from '../handle.ts'
import type { Subscription } from './subscription.ts'

export class Subscribers {
  readonly #all = new Set<Subscription>()
  readonly #report: (error: unknown) => void

  constructor(report: (error: unknown) => void) {
    this.#report = report
  }

  add(subscription: Subscription): void {
    this.#all.add(subscription)
    this.#presenceChanged()
    subscription.serversChanged()
  }

  remove(subscription: Subscription): void {
    if (this.#all.delete(subscription)) this.#presenceChanged()
  }

  publish(entries: readonly Entry[], view: SessionView): void {
    this.#each((subscription) => subscription.pushEntries(entries, view))
  }

  failed(error: unknown, view: SessionView): void {
    this.#each((subscription) => subscription.failed(error, view))
  }

  /** What is of no interest later: only clients that are up to date get it. */
  notify(notice: Notice): void {
    this.#each((subscription) => subscription.notify(notice))
  }

  /** The state of an MCP server has changed, or which of them the session has. */
  serversChanged(): void {
    this.#each((subscription) => subscription.serversChanged())
  }

  ended(how: 'closed' | 'deleted'): void {
    this.#each((subscription) => subscription.sessionEnded(how))
  }

  #presenceChanged(): void {
    this.#each((subscription) => subscription.presenceChanged())
  }

  #each(tell: (subscription: Subscription) => void): void {
    for (const subscription of this.#all) {
      try {
        tell(subscription)
      } catch (error) {
        // What this subscriber missed is in the journal.
        this.#report(error)
      }
    }
  }
}
