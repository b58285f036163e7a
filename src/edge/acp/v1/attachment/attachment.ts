/** One client's view of one session: entries become updates, ends become responses, questions become requests. */
import { ParleyError, fail, isParleyError } from '../../../../errors/parley-error.ts'
import type { Content, Meta, Notice } from '../../../../ports/content.ts'
import type { SessionConfig } from '../../../../session/handle.ts'
import { QUEUE_LIMIT } from '../../../../session/domain/decide.ts'
import type { Entry } from '../../../../session/domain/entries.ts'
import type { Subscription } from '../../../../session/subscribers/subscription.ts'
import type { Change, SubscriptionSink } from '../../../../session/subscribers/subscription-sink.ts'
import type { Session } from '../../../../session/session.ts'
import type { Transport } from '../../../transport/transport.ts'
import type { RequestId } from '../../../../rpc/json-rpc.ts'
import type { PendingRequests } from '../../../../rpc/pending-requests.ts'
import { PermissionRequests } from './permission-requests.ts'
import type { ClientCapabilities } from '../initialize/client-capabilities.ts'
import type { ClientPeers, ClientPeerServices } from '../client-peer/client-peer.ts'
import { type AdoptedPrompt, PendingPrompts } from './pending-prompts.ts'
import { UpdateRenderer, updateMessage } from '../render/update-renderer.ts'
import { LiveStatus, type LiveStatusView } from './live-status.ts'
import { noticeUpdate, phaseUpdate, stateUpdates } from '../render/entry-to-update.ts'

/** The client of one connection, as the sessions that it opened need it. */
export interface ConnectedClient {
  readonly transport: Transport
  readonly requests: PendingRequests
  readonly capabilities: ClientCapabilities
  readonly peers: ClientPeers
  report(error: unknown): void
}

export interface Start {
  /** The cursor that the client has. */
  readonly from: number
  readonly opening: SessionConfig
}

/** A prompt as its client named it. */
export interface Said {
  readonly promptId: string
  readonly content: readonly Content[]
  readonly meta: Meta | undefined
}

/** `left`: another view took its place, or its client is gone; it says nothing more. */
type Place = 'joining' | 'replaying' | 'live' | 'left'

export class Attachment implements SubscriptionSink {
  readonly session: Session
  readonly #client: ConnectedClient
  readonly #feed: Subscription
  readonly #prompts: PendingPrompts
  readonly #asking: PermissionRequests
  readonly #pictures: LiveStatus
  readonly #lent: ClientPeerServices
  readonly #lines: UpdateRenderer
  #place: Place = 'joining'
  /** The last entry that it was told: while it catches up, its feed is ahead by what is still to be merged. */
  #told: number
  #opening: SessionConfig
  /** Somebody has closed or deleted the session, or opened it again after that. */
  #over: { readonly phase: 'closed' | 'deleted' | 'reopened'; readonly isTold: boolean } | undefined
  /** Something has changed while the client had no room to be told of it. */
  #isOwed = false

  constructor(session: Session, client: ConnectedClient, { from, opening }: Start) {
    this.session = session
    this.#client = client
    this.#opening = opening
    const { requests, capabilities } = client
    const { info, display, notifications } = capabilities
    this.#prompts = new PendingPrompts(session)
    this.#pictures = new LiveStatus(notifications)
    this.#asking = new PermissionRequests({
      session,
      outbox: requests,
      name: info.name,
      decline: (requestId, why) => session.decline(this.#feed, requestId, why),
      report: (error) => client.report(error),
    })
    this.#told = from
    this.#lent = client.peers.of(session.id)
    this.#lines = new UpdateRenderer({
      session,
      display,
      prompts: this.#prompts,
      asking: this.#asking,
      lent: this.#lent,
    })
    this.#feed = session.attach(this, from, { opening, client: info, lends: this.#lent })
    this.#lent.calls.follow({
      head: () => session.state.seq,
      knows: (seq) => this.#place === 'live' && this.#told >= seq,
    })
  }

  /** By which the session knows what this client declared. */
  get feed(): object {
    return this.#feed
  }

  get isLeft(): boolean {
    return this.#place === 'left'
  }

  get isLive(): boolean {
    return this.#place === 'live'
  }

  /** Where another view of it would go on from here. */
  get start(): Start {
    return { from: this.#feed.cursor, opening: this.#opening }
  }

  /** All that was said and how it is; whatever comes meanwhile waits. */
  async replay(): Promise<void> {
    this.#place = 'replaying'
    await this.#feed.replay()
    // A client that is gone, or that opened it once more, needs no more of this.
    if (!this.isLeft) this.#place = 'joining'
  }

  /** What a client needs to know besides the conversation: only the latest of each. */
  tellState(): void {
    const updates = stateUpdates(this.session.requireCreated)
    this.#send(updates.map((update) => updateMessage(this.session.id, update, this.#told)))
  }

  /** From here on everything as it is stored; an open question is put to this client too. */
  async goLive(): Promise<void> {
    await this.#feed.goLive()
    if (this.isLeft) return
    this.#place = 'live'
    this.#send(this.#lent.calls.due(), this.#news())
  }

  /** Takes over the prompts of an earlier view of the same session on this connection, and asks its question anew. */
  inherit(former: Attachment): void {
    former.#place = 'left'
    this.#prompts.inherit(former.#prompts)
    if (former.#over?.phase === 'closed' && former.#over.isTold) this.#over = { phase: 'reopened', isTold: false }
    this.#send(former.#asking.withdraw())
  }

  /** Opened again on the same connection: this declaration replaces its former one. */
  declare(opening: SessionConfig): void {
    this.#opening = opening
    this.session.setClientConfig(this.#feed, opening)
  }

  /** Each is answered on this connection, after the entries up to its end. */
  adopt(prompts: readonly AdoptedPrompt[]): void {
    for (const { promptId, requestId } of prompts) {
      this.#prompts.wait(promptId, requestId)
      this.session.adoptPrompt(promptId, this.#feed)
    }
    this.#prompts.mayBeOver()
    this.#pictures.changed('queue')
  }

  /** The prompts of this connection that have not ended. */
  openPrompts(): readonly string[] {
    return this.#prompts.ids
  }

  promptOf(requestId: RequestId): string | undefined {
    return this.#prompts.of(requestId)
  }

  /** Its end answers `requestId`, and so does a refusal unless it is thrown. */
  async prompt({ promptId, content, meta }: Said, requestId: RequestId): Promise<void> {
    if (this.#prompts.waitingFor(promptId) >= QUEUE_LIMIT)
      fail('QUEUE_FULL', { session: this.session.id, limit: QUEUE_LIMIT })
    this.#prompts.wait(promptId, requestId)
    this.#prompts.arrives(promptId)
    try {
      const receipt = await this.#feed.prompt({ promptId, content, meta })
      this.#prompts.accepted(promptId)
      // Sent again after its end, it is answered with that, once the client has all that was said until then.
      if (receipt === 'open') return
      this.#prompts.mayBeOver()
      this.tellNews()
    } catch (error) {
      if (this.#prompts.refused(promptId, requestId)) throw error
    }
  }

  take(entries: readonly Entry[]): void {
    this.#told = entries.at(-1)?.seq ?? this.#told
    this.#send(this.#updatesOf(entries), this.#lent.calls.due(), this.#news())
  }

  congested(): boolean {
    return this.#client.transport.isBackpressured()
  }

  room(): Promise<void> {
    return this.#client.transport.drained()
  }

  /** Whoever cannot show it hears nothing of it. */
  notify(notice: Notice): void {
    const { display } = this.#client.capabilities
    if (display.notices && this.#place === 'live')
      this.#send([updateMessage(this.session.id, noticeUpdate(notice), this.#told)])
  }

  /** On a connection of its own making again, it goes on from its cursor. */
  cutOff(error: unknown): void {
    this.#client.report(error)
    this.#client.transport.destroy()
  }

  /** What could not be stored will not be told; whoever waits for it hears why. */
  failed(error: unknown): void {
    const known = isParleyError(error) ? error : new ParleyError('INTERNAL_ERROR', {}, error)
    this.#send(this.#prompts.answersOfFailed(known))
  }

  changed(what: Change): void {
    if (what === 'closed' || what === 'deleted') this.#over = { phase: what, isTold: false }
    else this.#pictures.changed(what)
    this.tellNews()
    if (what === 'deleted') this.#send(this.#prompts.answersOfLost())
  }

  /** The client leaves the session, or could not open it: each of its prompts is answered with its end, or with what went wrong. */
  abandon(error: ParleyError): void {
    this.#send(this.#prompts.answersOfAbandoned(error), this.#asking.withdraw())
    this.#client.peers.leave(this.session.id)
    this.detach()
  }

  /** What has changed besides the entries, as soon as the client has room for it. */
  tellNews(): void {
    if (!this.congested()) return this.#sendNews()
    if (this.#isOwed) return
    this.#isOwed = true
    const told = this.room().then(() => {
      this.#isOwed = false
      this.tellNews()
    })
    // A client that is gone is told nothing.
    told.catch(() => undefined)
  }

  #sendNews(): void {
    try {
      this.#send(this.#news())
    } catch (error) {
      this.cutOff(error)
    }
  }

  detach(): void {
    this.#place = 'left'
    this.#feed.end()
    this.#asking.withdraw()
  }

  #updatesOf(entries: readonly Entry[]): readonly string[] {
    return this.#place === 'replaying' ? this.#lines.replayed(entries) : this.#lines.live(entries)
  }

  /** What no entry tells of, once the client has all entries: the open question, the end of the session, the notices. */
  #news(): readonly string[] {
    if (this.#place !== 'live') return []
    const isDeleted = this.#over?.phase === 'deleted'
    if (this.#told < this.session.state.seq && !isDeleted) return []
    return [
      ...this.#prompts.answersOfWhatIsOver(),
      ...this.#asking.ask(),
      ...this.#endOfSession(),
      ...this.#pictures.messages(this.#view(isDeleted)),
    ]
  }

  #endOfSession(): readonly string[] {
    if (this.#over === undefined || this.#over.isTold) return []
    const { phase } = this.#over
    this.#over = { phase, isTold: true }
    const { id, requireCreated: existing } = this.session
    return [updateMessage(id, phaseUpdate(phase === 'reopened' ? existing.phase : phase), this.#told)]
  }

  #view(isDeleted: boolean): LiveStatusView {
    const isMine = (promptId: string) => this.#prompts.has(promptId)
    return { session: this.session, feed: this.#feed, isDeleted, isMine }
  }

  /** In one write. Updates that are the same for several clients stay the one array that all of them get. */
  #send(...parts: readonly (readonly string[])[]): void {
    const [first, ...more] = parts.filter((messages) => messages.length > 0)
    if (first !== undefined) this.#client.transport.send(more.length === 0 ? first : [first, ...more].flat())
  }
}
