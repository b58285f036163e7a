/**
 * The stream of one session. An event has the number of its entry in the journal, `41`; an event without an entry has
 * the number of the entry before it, `41.1`. So a reader whose connection broke continues from memory or, if it missed
 * too much, from the journal.
 */
import type { Timer } from '../../../ports/clock.ts'
import type { RequestId } from '../../../rpc/json-rpc.ts'
import { EventStream, type StreamEvent } from './event-stream.ts'
import type { Outgoing } from './routing.ts'

/**
 * A client that loads the session again over one connection gets entries that it had before: their events are numbered from here
 * on, `41.1000000`, and from twice this the next time. So what a reader had before such a load is not taken for what came by it.
 */
const AGAIN = 1_000_000
/** The number behind the point has nine digits. */
const MOST_AGAIN = 999

/** Enough for a connection that broke; for more there is the journal. */
const KEPT_BYTES = 256 * 1024

/** Entries are being read from the journal again, for the request `id` to open the session. */
interface Reloading {
  readonly id: RequestId
  /** The last that came for the opening before it; those entries come again. Undefined once the new one has begun. */
  former: EventPlace | undefined
  /** Resolves what waits for it to begin. */
  readonly begun: (how: 'begun' | 'superseded') => void
}

interface EventPlace {
  readonly seq: number
  /** How many messages without an entry have come since. */
  readonly since: number
}

export class SessionStream extends EventStream {
  /** Of the last message that was sent. */
  #last: EventPlace = { seq: 0, since: 0 }
  /** How often the client has had the session sent from its beginning again, and the place before the last of these. */
  #again = 0
  #start: string | undefined
  /** The entry up to which a reader of this connection had everything before the session was opened. */
  after: number | undefined
  #reloading: Reloading | undefined
  /** While entries are read from the journal again: what belongs between them. */
  #between: readonly StreamEvent[] = []
  /** Runs while answers wait for the first reader. */
  patience: Timer | undefined
  /** No client came to read, so answers go to the stream of the connection. */
  answersElsewhere = false

  constructor() {
    super(KEPT_BYTES)
  }

  override get isEmpty(): boolean {
    return super.isEmpty && this.#reloading === undefined
  }

  /** Where a reader continues that has had the event `after`: one that has nothing yet of what is sent again, at its beginning. */
  placeAfter(after: string): string {
    const isOfThisTime = Math.floor(parseEventId(after)[1] / AGAIN) === this.#again
    return this.#start === undefined || isOfThisTime ? after : this.#start
  }

  send(messages: readonly Outgoing[]): void {
    this.push(messages.flatMap((message) => this.#eventsOf(message)))
  }

  /**
   * What was sent so far is forgotten; the request `id` sends the entries after `seq` once more. `after` is the last event that
   * the reader has. Resolves when that request has opened the session, or another one is to be read instead.
   */
  reload(after: string, id: RequestId): Promise<'begun' | 'superseded'> {
    const [seq, since] = parseEventId(after)
    this.#reloading?.begun('superseded')
    this.leaveReader()
    this.#between = [...this.#between, ...this.takeUnstored()].filter((event) => {
      const [at, nth] = parseEventId(event.id)
      return at > seq || (at === seq && nth > since)
    })
    const former = this.#reloading?.former ?? this.#last
    this.#last = { seq, since: since % AGAIN }
    return new Promise((begun) => (this.#reloading = { id, former, begun }))
  }

  /** From here on entries are those that the request `id` sends. */
  opened(id: RequestId): void {
    if (this.#reloading?.id !== id) return
    this.#reloading.former = undefined
    this.#reloading.begun('begun')
  }

  /** The request `id` has sent all that was missed, or has failed. */
  reloaded(id: RequestId): void {
    if (this.#reloading?.id !== id) return
    this.#last = this.#reloading.former ?? this.#last
    this.#reloading = undefined
    const rest = this.#between
    this.#between = []
    this.push(rest.map((event) => this.#unstored(event)))
  }

  #eventsOf(message: Outgoing): readonly StreamEvent[] {
    const { text, seq, method } = message
    const isAnswer = method === undefined
    const former = this.#reloading?.former
    if (former !== undefined) return this.#putAside(message, former)
    if (seq === undefined || seq === this.#last.seq) return [this.#unstored({ text, isAnswer })]
    const due = this.#between.filter((event) => parseEventId(event.id)[0] < seq)
    this.#between = this.#between.filter((event) => !due.includes(event))
    const before = due.map((event) => this.#unstored(event))
    // The client has the session sent from its beginning: what it was sent before is sent again.
    if (seq < this.#last.seq) this.#beginAgain(seq)
    this.#last = { seq, since: 0 }
    return [...before, { id: this.#idOf(this.#last), text, isStored: true, isAnswer }]
  }

  /** No update is sent before those that the reader has missed. Messages that are no updates wait for their place. */
  #putAside({ text, seq, method }: Outgoing, former: EventPlace): readonly StreamEvent[] {
    const place = seq === undefined ? { seq: former.seq, since: former.since + 1 } : { seq, since: 0 }
    if (this.#reloading !== undefined) this.#reloading.former = place
    const event = { id: this.#idOf(place), text, isStored: false, isAnswer: method === undefined }
    if (seq === undefined) this.#between = [...this.#between, event]
    return []
  }

  #beginAgain(seq: number): void {
    this.#again = (this.#again % MOST_AGAIN) + 1
    this.#start = this.#idOf({ seq: seq - 1, since: 0 })
    this.forgetGiven(this.#start)
  }

  #idOf({ seq, since }: EventPlace): string {
    const place = { seq, since: this.#again * AGAIN + since }
    return place.since === 0 ? String(seq) : idOf(place)
  }

  #unstored({ text, isAnswer }: Pick<StreamEvent, 'text' | 'isAnswer'>): StreamEvent {
    this.#last = { ...this.#last, since: this.#last.since + 1 }
    return { id: this.#idOf(this.#last), text, isStored: false, isAnswer }
  }
}

function idOf({ seq, since }: EventPlace): string {
  return `${seq}.${since}`
}

/** The entry of an event, and its number among those without one that follow. */
export function parseEventId(id: string): readonly [seq: number, since: number] {
  const [seq, since = '0'] = id.split('.')
  return [Number(seq), Number(since)]
}

/** As this server numbers events; anything else was never sent. */
export function isEventId(id: string): boolean {
  return /^\d{1,15}(?:\.\d{1,9})?$/u.test(id)
}
