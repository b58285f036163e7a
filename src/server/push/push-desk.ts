/**
 * Sends notifications to the devices that asked for them when a session waits, ends or is interrupted, and accepts the
 * answers of these notifications.
 */
import { createHash } from 'node:crypto'
import type { TokenHolder } from '../../credentials/access-tokens.ts'
import { type KeyRing, credentialOf } from '../../credentials/key-ring.ts'
import { ROLES } from '../../credentials/roles.ts'
import { reaches } from '../../credentials/scope.ts'
import type { Notifications, Notifying } from '../../edge/http/page/notifications.ts'
import { fail } from '../../errors/parley-error.ts'
import type { Clock } from '../../ports/clock.ts'
import type { SessionChange, SessionId, SessionSummary } from '../../ports/journal.ts'
import type { PushMessage, PushService, PushTarget } from '../../ports/values/push.ts'
import type { SessionRegistry } from '../../session/session-registry.ts'
import { type KnownState, NOTHING_KNOWN, type PushNews, isSentTo, knownOf, newsOf } from './news.ts'
import { type DeviceSubscription, Subscriptions } from './subscriptions.ts'
import { Tickets, buttonsOf } from './tickets.ts'

/** Between two notifications of a session; what is true then is said then. */
const PAUSE_MS = 30_000
/** What a push service keeps for a device that is away. Seconds. */
const KEPT_SECONDS = { waits: 60 * 60, ended: 10 * 60, broken: 10 * 60, over: 10 * 60 } as const
/** Of texts, so that a message fits into the 4 KB of one record in any script. */
const MAX_CHARS = 200
const MAX_KNOWN = 10_000

export type AnsweredSessions = Pick<SessionRegistry, 'watch' | 'find' | 'answer'>

export interface PushSurroundings {
  readonly home: string
  readonly clock: Clock
  readonly sessions: Promise<AnsweredSessions>
  /** The setting `push_services`. */
  readonly services: readonly string[]
  /** The credentials that are valid now. */
  readonly ring: () => KeyRing
  readonly report: (error: unknown) => void
}

export class PushDesk implements Notifications {
  readonly #around: PushSurroundings
  readonly #subscriptions: Subscriptions
  readonly #tickets: Tickets
  readonly #known = new Map<SessionId, KnownState>()
  /** When the last notification of a session was sent. */
  readonly #sentAt = new Map<SessionId, number>()
  /** Sessions whose next notification is delayed. */
  readonly #later = new Set<SessionId>()
  readonly #since: number
  #service: Promise<PushService> | undefined

  constructor(around: PushSurroundings) {
    const { home, clock, sessions, report } = around
    this.#around = around
    this.#subscriptions = new Subscriptions(home)
    this.#tickets = new Tickets(() => clock.now())
    this.#since = clock.now()
    sessions.then(
      (opened) => opened.watch((change) => this.#changed(change)),
      // The server reports it.
      () => undefined,
    )
    this.#report = report
  }

  readonly #report: (error: unknown) => void

  async state(holder: TokenHolder): Promise<Notifying> {
    const { publicKey: key } = await this.#opened()
    const own = this.#subscriptions.of(credentialOf(holder))
    return { key, on: own !== undefined, answers: own?.answers === true }
  }

  async subscribe(holder: TokenHolder, target: PushTarget, answers: boolean): Promise<Notifying> {
    const service = await this.#opened()
    if (!service.takes(target)) fail('PUSH_SERVICE_UNKNOWN', { host: hostOf(target.endpoint) })
    this.#subscriptions.put({ device: credentialOf(holder), target, answers })
    return this.state(holder)
  }

  async unsubscribe(holder: TokenHolder): Promise<Notifying> {
    this.#subscriptions.remove([credentialOf(holder)])
    return this.state(holder)
  }

  async answer(secret: string, optionId: string): Promise<{ readonly counted: boolean } | undefined> {
    const ticket = this.#tickets.take(secret, optionId)
    const holder = ticket && this.#around.ring().holderWith(ticket.device)
    if (ticket === undefined || holder === undefined || !mayAnswer(holder)) return undefined
    // The reader may have turned the buttons off since.
    if (this.#subscriptions.of(ticket.device)?.answers !== true) return undefined
    const sessions = await this.#around.sessions
    const row = await sessions.find(ticket.sessionId)
    if (row === undefined || !reaches(holder.scope, row)) return undefined
    const { sessionId, requestId } = ticket
    const { counted } = await sessions.answer(sessionId, { requestId, optionId, by: holder.name })
    return { counted }
  }

  #changed(change: SessionChange): void {
    if (change.kind === 'removed') return this.#forget(change.id)
    const { row } = change
    const news = newsOf(this.#known.get(row.id), row, this.#since)
    this.#known.delete(row.id)
    this.#known.set(row.id, knownOf(row))
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= MAX_KNOWN) break
      this.#forget(oldest)
    }
    if (news !== undefined && this.#subscriptions.all.length > 0) this.#tell(row, news)
  }

  #forget(id: SessionId): void {
    this.#known.delete(id)
    this.#sentAt.delete(id)
  }

  #tell(row: SessionSummary, news: PushNews): void {
    const { clock } = this.#around
    const wait = (this.#sentAt.get(row.id) ?? -PAUSE_MS) + PAUSE_MS - clock.monotonicNow()
    if (news.kind === 'over') {
      if (this.#sentAt.has(row.id)) this.#sendAll(row, news)
      return
    }
    if (wait <= 0) {
      this.#sentAt.set(row.id, clock.monotonicNow())
      return this.#sendAll(row, news)
    }
    if (this.#later.has(row.id)) return
    this.#later.add(row.id)
    clock.setTimer(wait, () => void this.#tellLate(row.id).catch(this.#report))
  }

  /** Only what is still true. */
  async #tellLate(id: SessionId): Promise<void> {
    this.#later.delete(id)
    const row = await (await this.#around.sessions).find(id)
    if (row === undefined || row.phase === 'working') return
    const news = newsOf(NOTHING_KNOWN, row, this.#since)
    if (news !== undefined) this.#tell(row, news)
  }

  #sendAll(row: SessionSummary, news: PushNews): void {
    const ring = this.#around.ring()
    const all = this.#subscriptions.all.map((one) => ({ ...one, holder: ring.holderWith(one.device) }))
    const gone = all.filter(({ holder }) => holder === undefined).map(({ device }) => device)
    // A device is not gone because its file cannot be read now.
    if (gone.length > 0 && ring.isWhole) this.#subscriptions.remove(gone)
    for (const { holder, ...subscription } of all)
      if (holder !== undefined && reaches(holder.scope, row) && isSentTo(subscription.target.endpoint, news))
        this.#send(subscription, messageOf(row, news, this.#buttonsFor(subscription, holder, { row, news }))).catch(
          this.#report,
        )
  }

  async #send({ device, target }: DeviceSubscription, message: PushMessage): Promise<void> {
    const service = await this.#opened()
    if ((await service.send(target, message)) === 'gone') this.#subscriptions.remove([device])
  }

  #buttonsFor(
    { answers, device }: DeviceSubscription,
    holder: TokenHolder,
    { row, news }: { readonly row: SessionSummary; readonly news: PushNews },
  ): object {
    if (news.kind !== 'waits' || !answers || !mayAnswer(holder)) return {}
    const { requestId, options, count, title } = news.question
    const buttons = buttonsOf(options, isShownWhole(title))
    // Of several questions the page shows which one is meant.
    if (buttons.length === 0 || count > 1) return {}
    const optionIds = buttons.map(({ optionId }) => optionId)
    const ticket = this.#tickets.issue({ device, sessionId: row.id, requestId, optionIds })
    return { ticket, options: buttons.map(({ optionId, name }) => ({ optionId, name: cut(name) })) }
  }

  #opened(): Promise<PushService> {
    this.#service ??= this.#open()
    return this.#service
  }

  async #open(): Promise<PushService> {
    const { home, clock, services } = this.#around
    const { openWebPush } = await import('./open-web-push.ts')
    const contact = 'https://www.npmjs.com/package/@parley-sessions/parley'
    return openWebPush({ home, now: () => clock.now(), services, contact, report: this.#report })
  }
}

function mayAnswer({ role }: TokenHolder): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf('approve')
}

function messageOf(row: SessionSummary, news: PushNews, buttons: object): PushMessage {
  const what = news.kind === 'waits' ? cut(news.question.title) : ''
  const text = JSON.stringify({ kind: news.kind, session: row.id, title: cut(row.title ?? ''), what, ...buttons })
  return {
    text,
    seconds: KEPT_SECONDS[news.kind],
    urgency: news.kind === 'waits' ? 'high' : 'normal',
    topic: createHash('sha256').update(row.id).digest('base64url').slice(0, 32),
  }
}

/** Without what could hide or reverse the rest. */
function cut(text: string): string {
  const plain = text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
  return plain.length > MAX_CHARS ? `${plain.slice(0, MAX_CHARS)}…` : plain
}

/** A title that was cut elsewhere ends with the sign for it, or has it in the middle. */
function isShownWhole(title: string): boolean {
  return cut(title) === title && !title.includes('…')
}

function hostOf(endpoint: string): string {
  return URL.canParse(endpoint) ? new URL(endpoint).host : JSON.stringify(endpoint.slice(0, MAX_CHARS))
}
