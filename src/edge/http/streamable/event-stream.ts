/**
 * The numbered events of one stream. Events that no reader has received wait, and the latest ones are kept, so that a
 * reader whose connection broke can continue after the last event that it has.
 */
import type { ServerResponse } from 'node:http'

const KEPT_EVENTS = 256

export interface StreamEvent {
  readonly id: string
  /** The message. */
  readonly text: string
  /** The journal has it too. */
  readonly isStored: boolean
  readonly isAnswer: boolean
}

export class EventStream {
  /** Given to a reader, oldest first. */
  #given: StreamEvent[] = []
  #givenBytes = 0
  /** Events of `#given` that were put aside because no journal has them. */
  #aside: StreamEvent[] = []
  /** The id of the last event that is kept no longer. */
  #forgotten: string | undefined
  #waiting: StreamEvent[] = []
  #waitingBytes = 0
  #reader: ServerResponse | undefined
  #readers = 0
  /** The end was sent. */
  #leaving: ServerResponse | undefined
  #wake: (() => void)[] = []

  readonly #keptBytes: number

  /** `start`: what a reader that has nothing yet may name. */
  constructor(keptBytes: number, start?: string) {
    this.#keptBytes = keptBytes
    this.#forgotten = start
  }

  get hasReader(): boolean {
    return this.#reader !== undefined
  }

  /** Whether a client has ever read here. */
  get wasRead(): boolean {
    return this.#readers > 0
  }

  /** Bytes that the client has not read. */
  get owedBytes(): number {
    return this.#waitingBytes + (this.#reader?.writableLength ?? 0)
  }

  get isEmpty(): boolean {
    return this.#given.length === 0 && this.#waiting.length === 0
  }

  push(events: readonly StreamEvent[]): void {
    for (const event of events) {
      this.#waiting.push(event)
      this.#waitingBytes += event.text.length
    }
    this.#flush()
    this.#woken()
  }

  /** Takes the place of the former reader. */
  read(response: ServerResponse): void {
    this.leaveReader()
    this.#reader = response
    this.#readers += 1
    response.on('drain', () => this.#woken())
    response.on('close', () => this.#left(response))
    this.#flush()
    this.#woken()
  }

  /** What came after the event `id` will be sent to the next reader, again if need be. False when not all of it is kept. */
  rewindTo(id: string): boolean {
    const at = this.#given.findLastIndex((event) => event.id === id)
    if (at === -1 && id !== this.#forgotten) return false
    const again = this.#given.splice(at + 1)
    this.#waiting.unshift(...again)
    this.#recount()
    return true
  }

  /** The former reader gets nothing more. */
  protected leaveReader(): void {
    this.#reader?.end()
    this.#reader = undefined
  }

  /** The journal sends what it has again, so only the rest stays, in the order in which it came. Returns that. */
  protected takeUnstored(): readonly StreamEvent[] {
    const rest = [...this.#aside, ...this.#given, ...this.#waiting].filter(({ isStored }) => !isStored)
    this.#aside = []
    this.#given = []
    this.#waiting = []
    this.#forgotten = undefined
    this.#recount()
    this.#woken()
    return rest
  }

  /** No reader can continue before what waits, which begins behind `start`. */
  protected forgetGiven(start: string): void {
    this.#aside = []
    this.#given = []
    this.#forgotten = start
    this.#recount()
  }

  /** Removes what waits and fits, and returns it. */
  takeWaiting(fits: (event: StreamEvent) => boolean): readonly StreamEvent[] {
    const taken = this.#waiting.filter(fits)
    this.#waiting = this.#waiting.filter((event) => !fits(event))
    this.#recount()
    return taken
  }

  /** A line that says nothing to the client, so that no proxy takes the silence for the end. */
  keepAlive(): void {
    this.#reader?.write(':\n\n')
  }

  /** Ends the stream with a remark for people who look at the bytes. */
  end(remark: string): void {
    this.#leaving = this.#reader
    this.#reader = undefined
    this.#leaving?.end(`: ${remark}\n\n`)
    this.#woken()
  }

  destroy(): void {
    for (const reader of [this.#reader, this.#leaving]) if (reader?.writableFinished === false) reader.destroy()
    this.#reader = undefined
    this.#waiting = []
    this.#recount()
    this.#woken()
  }

  /** Resolves when something about the owed bytes may have changed. */
  changed(): Promise<void> {
    return new Promise((resolve) => this.#wake.push(resolve))
  }

  #flush(): void {
    if (this.#reader === undefined || this.#waiting.length === 0) return
    const events = this.#waiting
    this.#waiting = []
    this.#waitingBytes = 0
    this.#reader.write(events.map(({ id, text }) => `id: ${id}\ndata: ${text}\n\n`).join(''))
    for (const event of events) this.#givenBytes += event.text.length
    this.#given = this.#given.length === 0 ? events : this.#given.concat(events)
    this.#forgetOld()
  }

  #forgetOld(): void {
    if (this.#given.length <= 2 * KEPT_EVENTS && this.#givenBytes <= 2 * this.#keptBytes) return
    let from = Math.max(0, this.#given.length - KEPT_EVENTS)
    let bytes = this.#given.slice(from).reduce((sum, { text }) => sum + text.length, 0)
    while (bytes > this.#keptBytes) bytes -= this.#given[from++]?.text.length ?? 0
    const old = this.#given.slice(0, from)
    this.#forgotten = old.at(-1)?.id ?? this.#forgotten
    this.#given = this.#given.slice(from)
    // Kept longer, for a reader whose connection had swallowed much.
    this.#aside = [...this.#aside, ...old.filter(({ isStored }) => !isStored)].slice(-KEPT_EVENTS)
    this.#recount()
  }

  #recount(): void {
    this.#givenBytes = lengthOf(this.#given)
    this.#waitingBytes = lengthOf(this.#waiting)
  }

  #left(response: ServerResponse): void {
    if (this.#reader === response) this.#reader = undefined
    this.#woken()
  }

  #woken(): void {
    for (const resolve of this.#wake.splice(0)) resolve()
  }
}

function lengthOf(events: readonly StreamEvent[]): number {
  return events.reduce((sum, { text }) => sum + text.length, 0)
}
