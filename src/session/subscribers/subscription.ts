/** One client's subscription to a session: what it is given, in which order, and how it catches up from the journal. */
import { fail, isParleyError } from '../../errors/parley-error.ts'
import type { AgentActivity } from '../../ports/agent.ts'
import type { Cursor, StoredEntry } from '../../ports/journal.ts'
import type { ServerStatus } from '../../ports/tools.ts'
import type { Notice } from '../../ports/values/content.ts'
import { type Entry, decodeEntry } from '../domain/entries.ts'
import type {
  ClientAnswer,
  ClientPrompt,
  PresentClient,
  SessionConfig,
  SessionPush,
  SessionSink,
  SessionSubscription,
  SessionView,
} from '../handle.ts'
import { RETRY_MS, retryRead } from '../log/session-log.ts'
import type { SessionPorts } from '../session-ports.ts'
import { ReplayCoalescer } from './replay-coalescer.ts'

const REPLAY_PAGE = { entries: 512, chars: 512 * 1024 }

/** The session of a subscription. */
export interface SubscribedSession {
  /** The session as it is now. */
  view(): SessionView
  /** The client detaches. */
  remove(subscription: Subscription): void
}

/** What a subscription passes on to the session for its client: prompts, answers, settings. */
interface SendingClients {
  prompt(subscription: Subscription, prompt: ClientPrompt): Promise<'open' | 'ended'>
  adoptPrompts(subscription: Subscription, promptIds: readonly string[]): void
  answer(subscription: Subscription, requestId: string, answer: ClientAnswer): Promise<void>
  setConfig(subscription: Subscription, config: SessionConfig): void
}

interface SubscriptionParts {
  readonly ports: Pick<SessionPorts, 'journal' | 'clock'>
  readonly clients: SendingClients
  readonly session: SubscribedSession
}

/**
 * `joining`: the client has subscribed and its connection calls `replay` and `goLive`. `catching up`: the client was slow, or an
 * entry is missing. `lagging`: catching up failed; it is tried again after a pause, or with the next entries.
 */
type Phase = 'joining' | 'live' | 'catching up' | 'lagging' | 'ended'

/**
 * The client gets every entry once, in order, from its cursor on, without a gap.
 * While a subscription replays or its client is slow, no entries are kept for it in memory: it reads them from the journal.
 * A subscriber misses no entry when it joins, and a slow client does not delay others: docs/internals/guarantees.md, 4 and 8.
 */
export class Subscription implements SessionSubscription {
  readonly opened: SessionView
  readonly #parts: SubscriptionParts
  readonly #sink: SessionSink
  #cursor: Cursor
  #phase: Phase = 'joining'
  #isRetrying = false

  constructor(parts: SubscriptionParts, sink: SessionSink, from: Cursor | 'head') {
    this.#parts = parts
    this.#sink = sink
    this.opened = parts.session.view()
    this.#cursor = from === 'head' ? this.opened.seq : from
  }

  get cursor(): Cursor {
    return this.#cursor
  }

  async replay(): Promise<SessionView> {
    const view = this.#parts.session.view()
    await this.#replayTo(view.seq)
    return view
  }

  async goLive(): Promise<void> {
    try {
      await this.#reachHead()
    } catch (error) {
      this.#lag(error)
    }
  }

  prompt(prompt: ClientPrompt): Promise<'open' | 'ended'> {
    return this.#parts.clients.prompt(this, prompt)
  }

  adoptPrompts(promptIds: readonly string[]): void {
    this.#parts.clients.adoptPrompts(this, promptIds)
  }

  answer(requestId: string, answer: ClientAnswer): Promise<void> {
    return this.#parts.clients.answer(this, requestId, answer)
  }

  setConfig(config: SessionConfig): void {
    this.#parts.clients.setConfig(this, config)
  }

  end(): void {
    this.#phase = 'ended'
    this.#parts.session.remove(this)
  }

  /** The newest entries of the session. A subscription that is not live reads them from the journal when it gets there. */
  pushEntries(entries: readonly Entry[], view: SessionView): void {
    if (this.#phase === 'lagging') return this.#catchUp()
    if (this.#phase !== 'live') return
    const first = entries[0]?.seq ?? 0
    // Entries are missing when an append was reported as failed although it was stored.
    if (this.#sink.isBackpressured() || first > this.#cursor + 1) return this.#catchUp()
    const last = entries.at(-1)?.seq ?? this.#cursor
    const fresh = first > this.#cursor ? entries : entries.filter((entry) => entry.seq > this.#cursor)
    if (this.#pushView(fresh, view)) this.#cursor = Math.max(last, this.#cursor)
  }

  failed(error: unknown, view: SessionView): void {
    this.#push(() => ({ kind: 'failed', error, view }))
  }

  readMissing(seq: Cursor): void {
    if (this.#phase === 'live' && this.#cursor < seq) this.#catchUp()
  }

  /** Only for clients that are up to date: a notice is about now. */
  notify(notice: Notice): void {
    if (this.#phase === 'live' && !this.#sink.isBackpressured()) this.#push(() => ({ kind: 'notice', notice }))
  }

  showClients(clients: () => readonly PresentClient[]): void {
    this.#push(() => ({ kind: 'presence', clients: clients() }))
  }

  /** The MCP servers that the turns of this client's prompts have. */
  showServers(servers: () => readonly ServerStatus[]): void {
    this.#push(() => ({ kind: 'mcp', servers: servers() }))
  }

  showActivity(activity: AgentActivity | undefined): void {
    this.#push(() => ({ kind: 'agent', activity }))
  }

  sessionEnded(how: 'closed' | 'deleted'): void {
    this.#push(() => ({ kind: 'ended', how }))
  }

  async #replayTo(until: Cursor): Promise<void> {
    const coalescer = new ReplayCoalescer()
    let ahead: Promise<readonly StoredEntry[]> | undefined
    try {
      while (this.#cursor < until && !this.#isEnded()) {
        // Another session of the same client may fill its connection. No page waits in memory for a client that reads slowly.
        const isSlow = this.#sink.isBackpressured()
        if (isSlow) ahead = undefined
        while (this.#sink.isBackpressured()) await this.#sink.drained()
        const page = await (ahead ?? this.#page(this.#cursor))
        const last = page.at(-1)?.seq
        if (last === undefined) break
        ahead = isSlow || last >= until ? undefined : this.#page(last)
        // The journal reads it while this page is rendered; a failure counts when its turn has come.
        ahead?.catch(() => undefined)
        const wanted = page.filter((stored) => stored.seq <= until).map(decodeEntry)
        this.#pushReplayed(coalescer.push(wanted), wanted.at(-1)?.seq)
      }
    } finally {
      // Also when a page could not be read: the cursor has passed the entry that the coalescer holds.
      this.#pushReplayed(coalescer.flush(), undefined)
    }
  }

  #page(after: Cursor): Promise<readonly StoredEntry[]> {
    const { journal, clock } = this.#parts.ports
    const read = () => journal.page(this.opened.id, after, REPLAY_PAGE)
    return retryRead(clock, read, () => !this.#isEnded())
  }

  async #reachHead(): Promise<void> {
    for (;;) {
      const view = this.#parts.session.view()
      if (this.#isEnded() || this.#cursor >= view.seq) return this.#beginLive(view)
      const before = this.#cursor
      await this.#replayTo(view.seq)
      // The journal no longer has the entries: the session was deleted, and what the client waits for will not come.
      if (this.#cursor === before) fail('SESSION_NOT_FOUND', { session: this.opened.id })
    }
  }

  #beginLive(view: SessionView): void {
    if (this.#isEnded()) return
    this.#phase = 'live'
    this.#pushView([], view)
  }

  #isEnded(): boolean {
    return this.#phase === 'ended'
  }

  #pushReplayed(entries: readonly Entry[], cursor: Cursor | undefined): void {
    if (entries.length > 0 && !this.#pushView(entries, undefined)) return
    this.#cursor = cursor ?? this.#cursor
  }

  #pushView(entries: readonly Entry[], view: SessionView | undefined): boolean {
    return this.#push(() => ({ kind: 'entries', entries, view }))
  }

  /** False when the subscription is over; the cursor then stays before the entries that were not taken. */
  #push(make: () => SessionPush): boolean {
    if (this.#isEnded()) return false
    try {
      this.#sink.push(make())
      return true
    } catch (error) {
      this.end()
      this.#sink.cutOff(error)
      return false
    }
  }

  #catchUp(): void {
    this.#phase = 'catching up'
    this.#pushView([], undefined)
    this.#sink.drained().then(
      () => this.goLive(),
      () => this.end(),
    )
  }

  #lag(error: unknown): void {
    if (this.#isEnded()) return
    this.#phase = 'lagging'
    this.#push(() => ({ kind: 'failed', error, view: this.#parts.session.view() }))
    // Retries also without new entries, because an open permission request must still reach a client whose updates failed.
    if (!isParleyError(error, 'SESSION_NOT_FOUND')) void this.#retryLater()
  }

  async #retryLater(): Promise<void> {
    if (this.#isRetrying) return
    this.#isRetrying = true
    await this.#parts.ports.clock.sleep(RETRY_MS)
    this.#isRetrying = false
    if (this.#phase === 'lagging') this.#catchUp()
  }
}
