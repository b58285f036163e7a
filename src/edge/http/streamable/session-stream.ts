/**
 * The stream of one session: its events are numbered by the entries of the journal, `41`, and what no entry holds by the
 * entry before it, `41.1`. So a reader that broke off continues from memory or, where it missed too much, from the journal.
 */
import type { Timer } from '../../../ports/clock.ts'
import { EventStream, type StreamEvent } from './event-stream.ts'
import type { Outgoing } from './routing.ts'

/** Enough for a connection that broke; for more there is the journal. */
const KEPT_BYTES = 256 * 1024

export class SessionStream extends EventStream {
  /** The last entry that was sent, and how many messages without one have come since. */
  #seq = 0
  #since = 0
  /** The entry up to which a reader of this connection had everything before the session was opened. */
  after: number | undefined
  /** While entries are read from the journal again: what belongs between them. */
  #between: readonly StreamEvent[] | undefined
  /** Runs while answers wait for the first reader. */
  patience: Timer | undefined
  /** No client came to read, so answers go to the stream of the connection. */
  answersElsewhere = false

  constructor() {
    super(KEPT_BYTES)
  }

  send(messages: readonly Outgoing[]): void {
    this.push(messages.flatMap((message) => this.#eventsOf(message)))
  }

  /** What was sent so far is forgotten; entries after `seq` come once more. `id` is the last event that the reader has. */
  reload(id: string, seq: number): void {
    const [, since] = partsOf(id)
    this.#between = [...(this.#between ?? []), ...this.takeUnstored()].filter((event) => {
      const [at, nth] = partsOf(event.id)
      return at > seq || (at === seq && nth > since)
    })
    this.#seq = seq
    this.#since = since
  }

  /** All that was missed has come. */
  reloaded(): void {
    const rest = this.#between ?? []
    this.#between = undefined
    this.push(rest.map((event) => this.#unstored(event)))
  }

  #eventsOf({ text, seq, method }: Outgoing): readonly StreamEvent[] {
    const isAnswer = method === undefined
    if (seq === undefined || seq === this.#seq) return [this.#unstored({ text, isAnswer })]
    const due = (this.#between ?? []).filter((event) => partsOf(event.id)[0] < seq)
    this.#between = this.#between?.filter((event) => !due.includes(event))
    const before = due.map((event) => this.#unstored(event))
    // The client has the session sent from its beginning: what it was sent before is sent again.
    if (seq < this.#seq) this.forgetGiven()
    this.#seq = seq
    this.#since = 0
    return [...before, { id: String(seq), text, isStored: true, isAnswer }]
  }

  #unstored({ text, isAnswer }: Pick<StreamEvent, 'text' | 'isAnswer'>): StreamEvent {
    this.#since += 1
    return { id: `${this.#seq}.${this.#since}`, text, isStored: false, isAnswer }
  }
}

/** The entry of an event, and its number among those without one that follow. */
export function partsOf(id: string): readonly [seq: number, since: number] {
  const [seq, since = '0'] = id.split('.')
  return [Number(seq), Number(since)]
}

/** As this server numbers events; anything else was never sent. */
export function isEventId(id: string): boolean {
  return /^\d{1,15}(?:\.\d{1,9})?$/u.test(id)
}
