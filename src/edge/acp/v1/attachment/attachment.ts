/** One client's part in one session: entries become updates, ends of prompts become responses, open permissions become requests. */
import { ParleyError, fail, isParleyError } from '../../../../errors/parley-error.ts'
import type { Cursor } from '../../../../ports/journal.ts'
import { type RequestId, type PendingRequests, notificationMessage } from '../../../../rpc/json-rpc.ts'
import { QUEUE_LIMIT } from '../../../../session/domain/prompt-queue.ts'
import type { Entry } from '../../../../session/domain/entries.ts'
import type {
  ClientAnswer,
  ClientPrompt,
  SessionConfig,
  SessionHandle,
  SessionPush,
  SessionSink,
  SessionSubscription,
  SessionView,
} from '../../../../session/handle.ts'
import type { Transport } from '../../../transport/transport.ts'
import type { ClientPeerRequests, ClientPeers } from '../client-peer/client-peer.ts'
import type { ClientCapabilities, DisplayCapabilities } from '../initialize/client-capabilities.ts'
import {
  noticeUpdate,
  phaseUpdate,
  stateUpdates,
  updateMessage,
  callUpdate,
  entryMessage,
  hiddenInReplay,
  isSpokenEnd,
  sharedUpdates,
  showsTerminals,
} from '../render/entry-to-update.ts'
import { type PlaceMeta, PlacedEntries } from '../render/places.ts'
import { LiveStatus } from './live-status.ts'
import { type AdoptedPrompt, PendingPrompts, OpenPermissionRequests } from './pending-answers.ts'
import { withdrawn } from '../../../../session/domain/evolve.ts'

/** The client of one connection, as the sessions that it opened need it. */
export interface ConnectedClient {
  readonly transport: Transport
  readonly requests: PendingRequests
  readonly capabilities: ClientCapabilities
  /** Absent for a client that serves nothing to agents. */
  readonly peers: ClientPeers | undefined
  /** Whether its role lets it answer permission requests; others see the call and what was answered. */
  readonly mayAnswer: boolean
  /** The name that prompts and answers of this client are stored under. */
  readonly author: string
  report(error: unknown): void
}

export interface AttachmentStart {
  /** The last entry that the client has. */
  readonly from: Cursor | 'head'
  readonly config: SessionConfig
}

/** `left`: another attachment took its place, or its client is gone. It sends nothing more. */
type Phase = 'joining' | 'replaying' | 'live' | 'left'

export class Attachment implements SessionSink {
  readonly session: SessionHandle
  readonly #client: ConnectedClient
  /** The prompts of this connection that have not ended. */
  readonly prompts: PendingPrompts
  /** Absent for a client that wants none of its notifications. */
  readonly #status: LiveStatus | undefined
  /** Absent for a client that serves nothing to agents. */
  readonly #peer: ClientPeerRequests | undefined
  readonly #renderer: UpdateRenderer
  /** Set by `subscribe`, before anything but the session gets this attachment. */
  #attached: { readonly subscription: SessionSubscription; readonly config: SessionConfig } | undefined
  readonly #permissions: OpenPermissionRequests
  #phase: Phase = 'joining'
  /** The session after the last push; undefined while there are entries that the client has not got. */
  #view: SessionView | undefined
  /** The last entry that was sent. While a replay merges entries, the cursor of the subscription is ahead of it. */
  #sentSeq = 0
  /** Set when a client closed or deleted the session, or opened it again after that. */
  #change: { readonly phase: 'closed' | 'deleted' | 'reopened'; readonly isSent: boolean } | undefined
  /** The error that answers the requests of prompts that were being stored when the client left the session. */
  #abandonedWith: ParleyError | undefined
  /** Something changed while the client had too much to read. */
  #isNewsDue = false

  /** `prompts`: those of the former attachment, if this one takes its place. */
  constructor(session: SessionHandle, client: ConnectedClient, prompts = new PendingPrompts(session.id)) {
    const { display, notifications } = client.capabilities
    this.session = session
    this.#client = client
    this.prompts = prompts
    this.#status = notifications.size === 0 ? undefined : new LiveStatus(session.id, notifications)
    this.#peer = client.peers?.of(session.id)
    this.#permissions = new OpenPermissionRequests({ sessionId: session.id, requests: client.requests })
    this.#renderer = new UpdateRenderer({
      sessionId: session.id,
      display,
      prompts,
      peer: this.#peer,
      tellsResolved: notifications.has('resolved'),
    })
  }

  /**
   * Takes the place of `former`, an attachment of the same client. `requireWanted` throws when the client has left meanwhile, or
   * may no longer attach; then all stays as it was. Throws SESSION_CLOSED too.
   */
  async subscribe(
    { from, config }: AttachmentStart,
    former: Attachment | undefined,
    requireWanted: () => void,
  ): Promise<void> {
    const { info } = this.#client.capabilities
    this.#peer?.follow(this)
    try {
      await this.#renderer.beginAfter(from, this.session)
      const client = { ...info, author: this.#client.author }
      const options = { config, client, ...(this.#peer && { peer: this.#peer }) }
      const subscription = await this.session.subscribe(from, this, options)
      this.#renderer.opened(subscription.opened)
      this.#attached = { subscription, config }
      requireWanted()
    } catch (error) {
      this.detach()
      if (former !== undefined) this.#peer?.follow(former)
      throw error
    }
    this.#sentSeq = this.subscription.cursor
    if (former !== undefined) this.#replace(former)
  }

  /** Takes over the prompts of the former attachment, and sends its open permission requests anew. */
  #replace(former: Attachment): void {
    const { phase, isSent } = former.#change ?? {}
    if (phase === 'closed' && isSent === true) this.#change = { phase: 'reopened', isSent: false }
    this.prompts.checkEnds()
    this.#send(former.#permissions.withdraw())
    former.detach()
  }

  /** By which the session knows this client. */
  get subscription(): SessionSubscription {
    return this.#requireAttached().subscription
  }

  get hasLeft(): boolean {
    return this.#phase === 'left'
  }

  get isLive(): boolean {
    return this.#phase === 'live'
  }

  /** Whether the client has received every stored entry, so that a message that is sent now arrives after them. */
  get isUpToDate(): boolean {
    return this.isLive && this.#view !== undefined
  }

  /** Where another attachment of this client would continue. */
  get start(): AttachmentStart {
    const { subscription, config } = this.#requireAttached()
    return { from: subscription.cursor, config }
  }

  /** Sends the conversation so far; entries that are stored meanwhile wait. */
  async replay(): Promise<SessionView> {
    this.#phase = 'replaying'
    const view = await this.subscription.replay()
    if (!this.hasLeft) this.#phase = 'joining'
    return view
  }

  /** Sends what a client needs besides the conversation: only the latest of each. */
  sendState(view: SessionView): void {
    this.#send(stateUpdates(view).map((update) => updateMessage(this.session.id, update, this.#sentSeq)))
  }

  /** From here on every entry is sent as it is stored; open permissions are requested from this client too. */
  async goLive(): Promise<void> {
    await this.subscription.goLive()
    if (this.hasLeft) return
    this.#phase = 'live'
    this.#send(this.#dueRequests(), this.#news())
  }

  /** The client opened the session again on the same connection: this configuration replaces its former one. */
  setConfig(config: SessionConfig): void {
    const { subscription } = this
    subscription.setConfig(config)
    this.#attached = { subscription, config }
  }

  /** Each is answered on this connection, after the entries up to its end. */
  adopt(prompts: readonly AdoptedPrompt[]): void {
    for (const { promptId, requestId } of prompts) this.prompts.wait(promptId, requestId)
    this.subscription.adoptPrompts(prompts.map(({ promptId }) => promptId))
    this.prompts.checkEnds()
    this.#status?.changed('queue')
  }

  /** The end of the prompt answers `requestId`. A refusal is thrown, unless the request has been answered meanwhile. */
  async prompt(prompt: ClientPrompt, requestId: RequestId): Promise<void> {
    const { promptId } = prompt
    if (this.prompts.waitingFor(promptId) >= QUEUE_LIMIT)
      fail('QUEUE_FULL', { session: this.session.id, limit: QUEUE_LIMIT })
    this.prompts.wait(promptId, requestId)
    this.prompts.beginStoring(promptId)
    try {
      const outcome = await this.subscription.prompt(prompt)
      this.prompts.stored(promptId)
      if (this.#abandonedWith !== undefined) throw this.#abandonedWith
      if (outcome === 'open') return
      // A prompt that is sent again after its end is answered with that end, once the client has all entries up to it.
      this.prompts.checkEnds()
      this.sendNews()
    } catch (error) {
      if (this.prompts.refused(promptId, requestId)) throw error
    }
  }

  push(push: SessionPush): void {
    switch (push.kind) {
      case 'entries':
        return this.#sendEntries(push.entries, push.view)
      case 'presence':
        this.#status?.presence(push.clients)
        return this.sendNews()
      case 'mcp':
        this.#status?.mcp(push.servers)
        return this.sendNews()
      case 'agent':
        this.#status?.agent(push.activity)
        return this.sendNews()
      case 'notice':
        if (this.isLive && this.#client.capabilities.display.notices)
          this.#send([updateMessage(this.session.id, noticeUpdate(push.notice), this.#sentSeq)])
        return undefined
      case 'failed':
        return this.#sendFailures(push.error, push.view)
      case 'ended':
        this.#change = { phase: push.how, isSent: false }
        this.sendNews()
        if (push.how === 'deleted') this.#send(this.prompts.answersOfDeleted())
        return undefined
    }
  }

  isBackpressured(): boolean {
    return this.#client.transport.isBackpressured(this.session.id)
  }

  drained(): Promise<void> {
    return this.#client.transport.drained(this.session.id)
  }

  /** The client connects again and resumes from its cursor. */
  cutOff(error: unknown): void {
    this.#client.report(error)
    this.#client.transport.destroy()
  }

  /** Sends what has changed besides the entries, as soon as the client has read enough. */
  sendNews(): void {
    if (!this.isBackpressured()) return this.#sendNews()
    if (this.#isNewsDue) return
    this.#isNewsDue = true
    const sent = this.drained().then(() => {
      this.#isNewsDue = false
      this.sendNews()
    })
    // Rejects when the client is gone, and then nothing need be sent.
    sent.catch(() => undefined)
  }

  /** The client leaves the session, or could not open it: each of its prompts is answered with its end, else with `reason`. */
  async abandon(reason: ParleyError): Promise<void> {
    this.#abandonedWith = reason
    const withdrawal = this.#permissions.withdraw()
    this.detach()
    this.#client.peers?.leave(this.session.id)
    // Without a view every prompt is answered with the reason.
    const view = await this.session.snapshot().catch(() => undefined)
    this.#send(this.prompts.answersOfAbandoned(reason, view), withdrawal)
  }

  detach(): void {
    this.#phase = 'left'
    this.#attached?.subscription.end()
    this.#permissions.withdraw()
  }

  #requireAttached() {
    return this.#attached ?? fail('SESSION_NOT_ATTACHED', { session: this.session.id })
  }

  #sendEntries(entries: readonly Entry[], view: SessionView | undefined): void {
    this.#sentSeq = entries.at(-1)?.seq ?? this.#sentSeq
    this.#view = view
    const isReplay = this.#phase === 'replaying'
    const updates = isReplay ? this.#renderer.replayed(entries) : this.#renderer.live(entries, this.#permissions)
    const cancelled = this.isLive ? (this.#status?.cancelled(entries) ?? []) : []
    this.#send(cancelled, updates, this.#dueRequests(), this.#news())
  }

  /** A prompt that could not be stored will never be sent, so its request is answered with the error. */
  #sendFailures(error: unknown, view: SessionView): void {
    const known = isParleyError(error) ? error : new ParleyError('INTERNAL_ERROR', {}, error)
    const queue = this.session.closed.aborted ? [] : view.queue
    this.#send(this.prompts.answersOfFailed(known, queue))
  }

  #sendNews(): void {
    try {
      this.#send(this.#news())
    } catch (error) {
      this.cutOff(error)
    }
  }

  /** Requests to the client that had to wait for entries which come before them. */
  #dueRequests(): readonly string[] {
    return this.#peer?.due() ?? []
  }

  /**
   * Messages that no entry holds, sent once the client has all entries: late responses, open permissions, the end of
   * the session, notifications.
   */
  #news(): readonly string[] {
    if (!this.isLive) return []
    const view = this.#view
    const isDeleted = this.#change?.phase === 'deleted'
    if (view === undefined) return isDeleted ? [...this.#changeOfSession('deleted'), ...this.#statusOf(undefined)] : []
    return [
      ...this.prompts.answersOfEnded(view),
      ...this.#requestPermissions(view),
      ...this.#changeOfSession(view.phase),
      ...this.#statusOf(isDeleted ? undefined : view),
    ]
  }

  #requestPermissions(view: SessionView): readonly string[] {
    if (!this.#client.mayAnswer) return []
    return this.#permissions.ask(view, (requestId, outcome) => void this.#resolvePermission(requestId, outcome))
  }

  async #resolvePermission(requestId: string, answer: ClientAnswer): Promise<void> {
    try {
      await this.subscription.answer(requestId, answer)
    } catch (error) {
      // Another client was first, or the session was closed meanwhile: neither is an error.
      const isLate = isParleyError(error, 'PERMISSION_UNKNOWN') || isParleyError(error, 'SESSION_CLOSED')
      if (!isLate) this.#client.report(error)
    }
  }

  /** `phase` is the one that the session has now, for a client that sees it reopened. */
  #changeOfSession(now: SessionView['phase'] | 'deleted'): readonly string[] {
    if (this.#change === undefined || this.#change.isSent) return []
    const { phase } = this.#change
    this.#change = { phase, isSent: true }
    return [updateMessage(this.session.id, phaseUpdate(phase === 'reopened' ? now : phase), this.#sentSeq)]
  }

  /** `view` is undefined once the session is deleted. */
  #statusOf(view: SessionView | undefined): readonly string[] {
    return this.#status?.messages(view, this.prompts) ?? []
  }

  /** In one write. Updates that are the same for several clients stay the one array that all of them get. */
  #send(...parts: readonly (readonly string[])[]): void {
    const [first, ...more] = parts.filter((messages) => messages.length > 0)
    if (first !== undefined) this.#client.transport.send(more.length === 0 ? first : [first, ...more].flat())
  }
}

/** One client in one session. */
interface RenderedFor {
  readonly sessionId: string
  readonly display: DisplayCapabilities
  readonly prompts: PendingPrompts
  readonly peer: ClientPeerRequests | undefined
  /** Whether it wants to know how permission requests ended. */
  readonly tellsResolved: boolean
}

class UpdateRenderer {
  readonly #client: RenderedFor
  /** Absent for a client that wants to know neither places nor how permission requests ended. */
  #places: PlacedEntries | undefined

  constructor(client: RenderedFor) {
    this.#client = client
  }

  /** Call it before the client subscribes: entries before `from` do not change any more. */
  async beginAfter(from: Cursor | 'head', session: SessionHandle): Promise<void> {
    if (this.#client.display.places && from !== 'head') this.#places = new PlacedEntries(await session.turnAt(from))
  }

  /** The session as it was when the client subscribed. */
  opened({ turns, questions }: SessionView): void {
    const { display, tellsResolved } = this.#client
    if (display.places || tellsResolved) this.#places = new PlacedEntries(this.#places?.turn ?? turns, questions)
  }

  /** New entries: the one array of all clients, unless something in them is different for this client. */
  live(entries: readonly Entry[], permissions: OpenPermissionRequests): readonly string[] {
    const { sessionId, display, prompts, tellsResolved } = this.#client
    const shared = sharedUpdates(sessionId, entries, { display, turn: this.#places?.turn ?? 0 })
    for (const entry of entries) this.#places?.pass(entry)
    if (!shared.isPersonal || (prompts.isEmpty && permissions.isEmpty && !tellsResolved)) return shared.messages
    return entries.flatMap((entry, index) => {
      if (entry.kind === 'permission_resolved')
        return [...permissions.withdraw(entry.requestId), ...this.#resolved(entry)]
      return this.#live(entry, { message: shared.byEntry[index], place: shared.places[index] })
    })
  }

  /** Entries of a replay. A client that was slow may get the response to its own prompt only here. */
  replayed(entries: readonly Entry[]): readonly string[] {
    const hidden = hiddenInReplay(entries)
    const messages: string[] = []
    for (const entry of entries) {
      const place = this.#client.display.places ? this.#places?.next(entry) : this.#places?.pass(entry)
      const message = hidden.has(entry) ? undefined : this.#message(entry, { place: place ?? undefined })
      if (message !== undefined) messages.push(message)
      if (ANSWERING.has(entry.kind)) messages.push(...this.#responses(entry), ...this.#resolved(entry))
    }
    return messages
  }

  #live(entry: Entry, shared: Shared): readonly string[] {
    const { prompts } = this.#client
    // The client that sent the prompt reads a failure in the response, all others as a message.
    const isOwnEnd = entry.kind === 'turn_ended' && prompts.has(entry.promptId) && isSpokenEnd(entry)
    const isOwnEcho = entry.kind === 'message_chunk' && entry.role === 'user' && prompts.has(entry.promptId)
    if (isOwnEcho) return []
    const message = isOwnEnd ? undefined : this.#message(entry, shared)
    return [...(message === undefined ? [] : [message]), ...this.#responses(entry)]
  }

  /** The responses to this client's prompts that end with this entry. */
  #responses(entry: Entry): readonly string[] {
    if (entry.kind === 'turn_ended') return this.#client.prompts.answers(entry)
    return entry.kind === 'prompt_withdrawn' ? this.#client.prompts.answers(withdrawn(entry)) : []
  }

  #resolved(entry: Entry): readonly string[] {
    const { sessionId, tellsResolved } = this.#client
    const resolved = tellsResolved ? this.#places?.resolved(entry) : undefined
    return resolved === undefined ? [] : [notificationMessage('_parley/resolved', { sessionId, ...resolved })]
  }

  #message(entry: Entry, { message, place }: Shared): string | undefined {
    const { sessionId, display, peer } = this.#client
    if (peer !== undefined) {
      const isOwn = (terminalId: string) => peer.hasTerminal(terminalId)
      if (showsTerminals(entry, isOwn)) return updateMessage(sessionId, callUpdate(entry, isOwn), place ?? entry.seq)
    }
    return message ?? entryMessage(sessionId, entry, { display, place })
  }
}

/** What may come after an entry of these kinds: the response to a prompt, or how a permission request ended. */
const ANSWERING: ReadonlySet<Entry['kind']> = new Set(['turn_ended', 'prompt_withdrawn', 'permission_resolved'])

/** The part of an update that was already rendered for all clients, if it was. */
interface Shared {
  readonly message?: string | undefined
  readonly place: PlaceMeta | undefined
}
