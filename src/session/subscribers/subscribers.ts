/**
 * The clients of a live session: who is attached, what they declared and provide, the prompts they sent, and what is pushed to
 * all of their subscriptions.
 */
import { onAbort } from '../../async/abort.ts'
import { isParleyError } from '../../errors/parley-error.ts'
import type { AgentActivity } from '../../ports/agent.ts'
import type { ClientPeer } from '../../ports/client-peer.ts'
import type { Cursor } from '../../ports/journal.ts'
import type { ServerStatus } from '../../ports/tools.ts'
import type { Notice } from '../../ports/values/content.ts'
import type { AbortSource } from '../../ports/values/signal.ts'
import type { Command } from '../domain/commands.ts'
import { type Entry, isEnd } from '../domain/entries.ts'
import { type State, isOpenPrompt, openQuestions } from '../domain/state.ts'
import type {
  ClientAnswer,
  ClientPrompt,
  PresentClient,
  SessionConfig,
  SessionSink,
  SessionView,
  SubscribeOptions,
  SubscribedClient,
} from '../handle.ts'
import { RETRY_MS, type SessionLog } from '../log/session-log.ts'
import type { SessionPorts } from '../session-ports.ts'
import type { ToolRegistryPool } from '../tools/tool-registry-pool.ts'
import { type SubscribedSession, Subscription } from './subscription.ts'

interface SubscribersOptions {
  readonly clients: AttachedClients
  readonly onEmpty: () => void
}

/** A failure of one subscription does not affect the others. */
export class Subscribers implements SubscribedSession {
  readonly #ports: SessionPorts
  readonly #log: SessionLog
  readonly #clients: AttachedClients
  readonly #onEmpty: () => void
  readonly #all = new Set<Subscription>()
  #activity: AgentActivity | undefined

  /** Calls `onEmpty` when the last subscription has ended. */
  constructor(ports: SessionPorts, log: SessionLog, { clients, onEmpty }: SubscribersOptions) {
    this.#ports = ports
    this.#log = log
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
    subscription.showServers(() => this.#clients.serversFor(subscription))
    subscription.showActivity(this.#activity)
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
    const { id, seq, phase, agent, title, commands, usage, settings, turns, recentPrompts } = state
    const turn = 'turn' in state ? { turnId: state.turn.turnId, promptId: state.turn.promptId } : null
    const queue = 'queue' in state ? state.queue : []
    const questions = openQuestions(state)
    return { id, seq, phase, agent, title, commands, usage, settings, turn, turns, queue, questions, recentPrompts }
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
    this.#each((subscription) => subscription.showServers(() => this.#clients.serversFor(subscription)))
  }

  showActivity(activity: AgentActivity | undefined): void {
    this.#activity = activity
    this.#each((subscription) => subscription.showActivity(activity))
  }

  ended(how: 'closed' | 'deleted'): void {
    this.#each((subscription) => subscription.sessionEnded(how))
  }

  #presenceChanged(): void {
    this.#each((subscription) => subscription.showClients(() => this.#clients.presentTo(subscription)))
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

/** The two kinds of questions that a client can put to its user for an MCP server. */
export type AskingMode = 'form' | 'url'

interface Attached {
  readonly client: SubscribedClient
  readonly peer: ClientPeer
  /** Aborted once the client has left; it stands for the connection of a client that provides nothing. */
  readonly left: AbortSource
  /** The permission requests to which it has no answer. */
  readonly declined: Set<string>
}

/**
 * The turn of a prompt uses the files, terminals and user of the client that sent it, for as long as that client is connected;
 * after that those of a client that adopted the prompt or sent it again. No other client is asked, with one exception: when
 * the client of a prompt has gone, any attached client may give the input for which a tool call of its turn waits.
 *
 * A client is known by its subscription, which is only a key here.
 */
export class AttachedClients {
  readonly #ports: Pick<SessionPorts, 'clock' | 'report'>
  readonly #log: SessionLog
  readonly #registries: ToolRegistryPool
  readonly #attached = new Map<object, Attached>()
  /** The clients that wait for the end of a prompt; they stay listed after they have left. */
  readonly #ofPrompt = new Map<string, readonly ClientPeer[]>()
  readonly #onJoined = new Set<() => void>()
  /** Resolves when the first client of the live session is attached, or the session is closed. */
  readonly hadClient: Promise<void>
  #cameFirst: () => void = () => {}

  constructor(ports: Pick<SessionPorts, 'clock' | 'report'>, log: SessionLog, registries: ToolRegistryPool) {
    this.#ports = ports
    this.#log = log
    this.#registries = registries
    this.hadClient = new Promise((resolve) => (this.#cameFirst = resolve))
    onAbort(log.closed, () => this.#cameFirst())
  }

  get size(): number {
    return this.#attached.size
  }

  /** In the order in which they came. */
  presentTo(subscription: object): readonly PresentClient[] {
    return [...this.#attached].map(([one, { client }]) => Object.assign({ isYou: one === subscription }, client))
  }

  /** The MCP servers that the turns of this client's prompts have. */
  serversFor(subscription: object): readonly ServerStatus[] {
    return this.#registries.serversFor(subscription)
  }

  /** Throws SERVERS_TOO_MANY. */
  join(subscription: object, { config, client, peer }: SubscribeOptions): void {
    this.setConfig(subscription, config)
    const former = config.replaces === undefined ? undefined : this.#attached.get(config.replaces)
    const left = former?.left ?? this.#ports.clock.abortSource()
    this.#attached.set(subscription, { client, peer: peer ?? { gone: left.signal }, left, declined: new Set() })
    this.#cameFirst()
    this.#peersChanged()
  }

  leave(subscription: object): void {
    this.#registries.leave(subscription)
    const left = this.#attached.get(subscription)?.left
    this.#attached.delete(subscription)
    // A client that opened the session again has another subscription by now, and has not left.
    if (![...this.#attached.values()].some((other) => other.left === left)) left?.abort()
  }

  /** Replaces the directories and MCP servers that the client declared. Throws SERVERS_TOO_MANY. */
  setConfig(subscription: object, config: SessionConfig): void {
    this.#registries.declare(subscription, config)
    this.releaseConfig(config)
  }

  /** Drops what `open` declared for a client before it was attached. */
  releaseConfig(config: SessionConfig): void {
    this.#registries.leave(config)
  }

  /**
   * Accepts a prompt; its end comes as an entry. Sent again with the same id, it runs once. Its turn has the directories that
   * this client declared, and the session keeps the MCP servers of the client until then, even if the client leaves.
   */
  async prompt(subscription: object, { promptId, content, meta }: ClientPrompt): Promise<'open' | 'ended'> {
    const log = this.#log
    const additionalDirectories = this.#registries.directoriesOf(subscription)
    this.#registries.promptBegan(promptId, subscription)
    this.#provideFor(promptId, subscription)
    try {
      const by = this.#attached.get(subscription)?.client.author
      const sent = { ...(meta && { meta }), ...(by !== undefined && { by }) }
      const command = { kind: 'prompt', promptId, content, additionalDirectories, ...sent } as const
      const entries = await log.request(command)
      return entries.length > 0 || isOpenPrompt(promptId, log.state) ? 'open' : 'ended'
    } finally {
      if (!isOpenPrompt(promptId, log.state)) this.#promptEnded(promptId)
    }
  }

  /** The client waits for prompts that it sent over an earlier connection, and provides what their turns need. */
  adoptPrompts(subscription: object, promptIds: readonly string[]): void {
    const open = promptIds.filter((promptId) => isOpenPrompt(promptId, this.#log.state))
    for (const promptId of open) this.#provideFor(promptId, subscription)
  }

  /**
   * The client answers this permission request. It is not asked again, so an answer that finds the disk full is stored as soon as
   * there is room: a suspended turn would wait for ever. A turn that runs is ended by the failure instead, and a client that comes
   * anew is asked anew.
   */
  async answer(subscription: object, requestId: string, answer: ClientAnswer): Promise<void> {
    const { clock, report } = this.#ports
    const command = () => this.#answerOf(subscription, requestId, answer)
    for (let next = command(); next !== undefined; next = command()) {
      try {
        await this.#log.request(next)
        return
      } catch (error) {
        const isWaiting = this.#log.state.phase === 'suspended' && !this.#log.closed.aborted
        if (!isWaiting || !isParleyError(error) || !error.retryable) throw error
        report(error)
      }
      await clock.sleep(RETRY_MS)
    }
  }

  /**
   * A client without an answer leaves the request open while another attached client may answer it; when none is left, the answer is
   * no, with `why` as a note in the conversation. Undefined too for a client that has left.
   */
  #answerOf(subscription: object, requestId: string, { optionId, why }: ClientAnswer): Command | undefined {
    const attached = this.#attached.get(subscription)
    if (attached === undefined) return undefined
    const { client, declined } = attached
    if (optionId !== undefined)
      return { kind: 'answer', requestId, optionId, ...(client.author !== undefined && { by: client.author }) }
    declined.add(requestId)
    if ([...this.#attached.values()].some((other) => !other.declined.has(requestId))) return undefined
    return { kind: 'answer', requestId, optionId: null, ...(why !== undefined && { why }) }
  }

  /** Prompts that have ended need their clients and MCP servers no longer. */
  published(entries: readonly Entry[]): void {
    for (const entry of entries) {
      if (isEnd(entry)) this.#promptEnded(entry.promptId)
      if (entry.kind === 'permission_resolved')
        for (const { declined } of this.#attached.values()) declined.delete(entry.requestId)
    }
  }

  /** The client of this prompt's turn, while one is connected. */
  of(promptId: string): ClientPeer | undefined {
    return this.#ofPrompt.get(promptId)?.find(isConnected)
  }

  /** The client that can put a question of this kind to its user for a waiting call; the client of the prompt comes first. */
  askable(promptId: string, mode: AskingMode): ClientPeer | undefined {
    const attached = [...this.#attached.values()].map(({ peer }) => peer)
    const known = [...(this.#ofPrompt.get(promptId) ?? []), ...attached]
    return known.find((peer) => isConnected(peer) && peer[mode] !== undefined)
  }

  /** Calls `listener` when a client has come that may be asked; returns how to stop that. */
  whenJoined(listener: () => void): () => void {
    this.#onJoined.add(listener)
    return () => this.#onJoined.delete(listener)
  }

  #provideFor(promptId: string, subscription: object): void {
    const peer = this.#attached.get(subscription)?.peer
    const known = this.#ofPrompt.get(promptId) ?? []
    if (peer === undefined || known.includes(peer)) return
    this.#ofPrompt.set(promptId, [...known, peer])
    this.#peersChanged()
  }

  #promptEnded(promptId: string): void {
    this.#registries.promptEnded(promptId)
    this.#ofPrompt.delete(promptId)
  }

  #peersChanged(): void {
    for (const listener of this.#onJoined) listener()
    const log = this.#log
    if (log.closed.aborted || !this.#canResumePaused(log.state)) return
    log.request({ kind: 'resume_paused' }).catch(this.#ports.report)
  }

  /** A call of a suspended turn waits for input that an attached client can give. An open permission request comes first. */
  #canResumePaused(state: State): boolean {
    if (state.phase !== 'suspended' || state.questions.length > 0) return false
    const { promptId, inputRequired } = state.turn
    return Object.values(inputRequired).some(({ input }) => {
      const [first] = Object.values(input.questions)
      return first === undefined || this.askable(promptId, first.mode) !== undefined
    })
  }
}

function isConnected({ gone }: ClientPeer): boolean {
  return !gone.aborted
}
