/** The subscriptions of a live session, and what is pushed to all of them. A failure of one does not affect the others. */
import type { Notice } from '../../ports/values/content.ts'
import type { Cursor } from '../../ports/journal.ts'
import type { SessionAgents } from '../agents.ts'
import type { Entry } from '../domain/entries.ts'
import { openQuestions } from '../domain/state.ts'
import type { SessionSink, SessionView, SubscribeOptions } from '../handle.ts'
import type { SessionLog } from '../log/session-log.ts'
import type { SessionPorts } from '../session-ports.ts'
import type { AttachedClients } from './attached-clients.ts'
import { type SubscribedSession, Subscription } from './subscription.ts'

export interface SubscribersOptions {
  readonly agents: SessionAgents
  readonly clients: AttachedClients
  readonly onEmpty: () => void
}

export class Subscribers implements SubscribedSession {
  readonly #ports: SessionPorts
  readonly #log: SessionLog
  readonly #agents: SessionAgents
  readonly #clients: AttachedClients
  readonly #onEmpty: () => void
  readonly #all = new Set<Subscription>()

  /** Calls `onEmpty` when the last subscription has ended. */
  constructor(ports: SessionPorts, log: SessionLog, { agents, clients, onEmpty }: SubscribersOptions) {
    this.#ports = ports
    this.#log = log
    this.#agents = agents
    this.#clients = clients
    this.#onEmpty = onEmpty
  }

  /** Attaches a client after the entry `from`. Throws SERVERS_TOO_MANY. */
  add(from: Cursor | 'head', sink: SessionSink, options: SubscribeOptions): Subscription {
    const parts = { ports: this.#ports, clients: this.#clients, session: this }
    const subscription = new Subscription(parts, sink, from)
    this.#clients.join(subscription, options)
    this.#all.add(subscription)
    this.#presenceChanged()
    subscription.serversChanged()
    return subscription
  }

  remove(subscription: Subscription): void {
    if (!this.#all.delete(subscription)) return
    this.#clients.leave(subscription)
    this.#presenceChanged()
    if (this.#all.size === 0) this.#onEmpty()
  }

  /** The session as it is now. */
  view(): SessionView {
    const state = this.#log.existing
    const { id, seq, phase, agent, title, commands, usage, settings, recentPrompts } = state
    const turn = 'turn' in state ? { turnId: state.turn.turnId, promptId: state.turn.promptId } : null
    const queue = 'queue' in state ? state.queue : []
    const questions = openQuestions(state)
    const accepts = this.#agents.promptKinds(state)
    return { id, seq, phase, agent, accepts, title, commands, usage, settings, turn, queue, questions, recentPrompts }
  }

  publish(entries: readonly Entry[]): void {
    const view = this.view()
    this.#each((subscription) => subscription.pushEntries(entries, view))
  }

  /** The running turn has lost entries that could not be stored. */
  failed(error: unknown): void {
    const view = this.view()
    this.#each((subscription) => subscription.failed(error, view))
  }

  /** Entries were stored that were never published. */
  readMissing(): void {
    const { seq } = this.#log.existing
    this.#each((subscription) => subscription.readMissing(seq))
  }

  /** For what is of no interest later: only clients that are up to date get it. */
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
        // The subscriber will read the entries that it missed from the journal.
        this.#ports.report(error)
      }
    }
  }
}
