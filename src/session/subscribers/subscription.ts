/** One reader's place in a session: it is told every entry once, in order, from its cursor on, without a seam. */
import { fail, isParleyError } from '../../errors/parley-error.ts'
import type { Notice } from '../../ports/content.ts'
import type { Cursor, StoredEntry } from '../../ports/journal.ts'
import { type Entry, decodeEntry } from '../domain/entries.ts'
import { RETRY_MS, retryRead } from '../log/read-journal.ts'
import type { SessionLog } from '../log/session-log.ts'
import type { SessionPorts } from '../session-ports.ts'
import { ReplayCoalescer } from './replay-coalescer.ts'

const PAGE = { entries: 512, chars: 512 * 1024 }

/** Where entries go: a client's connection. */
export interface SubscriptionSink {
  /** Entries in order; never waits. */
  take(entries: readonly Entry[]): void
  /** More than a client should be owed: the feed stops pushing and reads on from the journal when there is room. */
  congested(): boolean
  room(): Promise<void>
  /** Something could not be stored, or not be read for long: the prompts that wait for an end must be answered now. */
  failed(error: unknown): void
  /** `take` threw this: the client is told nothing more, so that it resumes from its cursor and misses nothing. */
  cutOff(error: unknown): void
  /** Of no interest later. */
  notify?(notice: Notice): void
  /** What no entry tells of is no longer as it was. */
  changed?(what: Change): void
}

/** `presence`: who is here; `mcp`: how the servers are; `closed`, `deleted`: somebody has ended the session for all. */
export type Change = 'presence' | 'mcp' | 'closed' | 'deleted'

/** The session that a subscription reads. */
export interface SubscriptionSource {
  readonly ports: Pick<SessionPorts, 'journal' | 'clock'>
  readonly log: Pick<SessionLog, 'state'>
  readonly onEnd: (subscription: Subscription) => void
}

/**
 * `joining`: whoever attached it replays and goes live. `catching up`: its client was slow, or something was missed.
 * `behind`: catching up failed; after a pause, or with the next push, it is tried again.
 */
type Place = 'joining' | 'live' | 'catching up' | 'behind' | 'ended'

/**
 * Replaying or live. While it replays or its client is slow, nothing is kept for it in memory: the journal has it all.
 * Promises 4 and 8 of DESIGN section 2.
 */
export class Subscription {
  readonly #source: SubscriptionSource
  readonly #sink: SubscriptionSink
  #cursor: Cursor
  #place: Place = 'joining'
  #isTryingLater = false

  constructor(source: SubscriptionSource, sink: SubscriptionSink, from: Cursor) {
    this.#source = source
    this.#sink = sink
    this.#cursor = from
  }

  /** The last `seq` that its sink has taken. */
  get cursor(): Cursor {
    return this.#cursor
  }

  /** Tells everything up to and including `until`, adjacent chunks merged. */
  async replay(until: Cursor): Promise<void> {
    const replay = new ReplayCoalescer()
    try {
      while (this.#cursor < until && !this.#isEnded()) {
        // Another session of the same client may have taken the room.
        while (this.#sink.congested()) await this.#sink.room()
        const page = await this.#page()
        if (page.length === 0) break
        const wanted = page.filter((stored) => stored.seq <= until).map(decodeEntry)
        this.#tell(replay.push(wanted), wanted.at(-1)?.seq)
      }
    } finally {
      // Also when a page could not be read: the cursor has passed what is held back.
      this.#tell(replay.flush(), undefined)
    }
  }

  #page(): Promise<readonly StoredEntry[]> {
    const { ports, log } = this.#source
    const read = () => ports.journal.page(log.state.id, this.#cursor, PAGE)
    return retryRead(ports.clock, read, () => !this.#isEnded())
  }

  /** From here on entries come as they are stored, after those missed meanwhile. What cannot be read is tried again. */
  async goLive(): Promise<void> {
    try {
      await this.#reachHead()
    } catch (error) {
      this.#stayBehind(error)
    }
  }

  async #reachHead(): Promise<void> {
    while (!this.#isEnded() && this.#cursor < this.#source.log.state.seq) {
      const before = this.#cursor
      await this.replay(this.#source.log.state.seq)
      // Deleted meanwhile: whoever waits for something in it waits in vain.
      if (this.#cursor === before) fail('SESSION_NOT_FOUND', { session: this.#source.log.state.id })
    }
    if (!this.#isEnded()) this.#place = 'live'
  }

  /** The session's newest entries. A feed that is not live finds them in the journal when it gets there. */
  push(entries: readonly Entry[]): void {
    if (this.#place === 'behind') return this.#catchUp()
    if (this.#place !== 'live') return
    const first = entries[0]?.seq ?? 0
    // A gap is what was stored although its writer was told that it was not.
    if (this.#sink.congested() || first > this.#cursor + 1) return this.#catchUp()
    const last = entries.at(-1)?.seq ?? this.#cursor
    const fresh = first > this.#cursor ? entries : entries.filter((entry) => entry.seq > this.#cursor)
    this.#tell(fresh, Math.max(last, this.#cursor))
  }

  failed(error: unknown): void {
    this.#sink.failed(error)
    if (this.#place === 'live' && this.#cursor < this.#source.log.state.seq) this.#catchUp()
  }

  /** Only who is up to date hears of it: it is about now. */
  notify(notice: Notice): void {
    if (this.#place === 'live' && !this.#sink.congested()) this.#sink.notify?.(notice)
  }

  changed(what: Change): void {
    this.#sink.changed?.(what)
  }

  /** A detach: the session goes on without this reader. Idempotent. */
  end(): void {
    this.#place = 'ended'
    this.#source.onEnd(this)
  }

  #isEnded(): boolean {
    return this.#place === 'ended'
  }

  /** Only what was taken is behind the cursor. */
  #tell(entries: readonly Entry[], cursor: Cursor | undefined): void {
    if (this.#isEnded()) return
    try {
      if (entries.length > 0) this.#sink.take(entries)
      if (cursor !== undefined) this.#cursor = cursor
    } catch (error) {
      this.end()
      this.#sink.cutOff(error)
    }
  }

  #catchUp(): void {
    this.#place = 'catching up'
    this.#sink.room().then(
      () => this.goLive(),
      () => this.end(),
    )
  }

  async #tryLater(): Promise<void> {
    if (this.#isTryingLater) return
    this.#isTryingLater = true
    await this.#source.ports.clock.sleep(RETRY_MS)
    this.#isTryingLater = false
    if (this.#place === 'behind') this.#catchUp()
  }

  #stayBehind(error: unknown): void {
    if (this.#isEnded()) return
    this.#place = 'behind'
    this.#sink.failed(error)
    // With a question open nothing is pushed: whoever could not be told of it must not wait for more to be said.
    if (!isParleyError(error, 'SESSION_NOT_FOUND')) void this.#tryLater()
  }
}
