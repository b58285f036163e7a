/** The memory that the main thread and the thread that watches it share: a heartbeat, and what the main thread began last. */
import type { Activity } from '../../ports/values/activity.ts'
import type { Clock, Timer } from '../../ports/clock.ts'

/** Of a heartbeat, and of what was begun. */
const COUNTERS = 2
const SLOTS = 8
/** Bytes of each; the first one is the length of the text. */
const SLOT = 192

const BEAT_MS = 500

/** Written by the main thread. */
export class SharedActivity implements Activity, Disposable {
  readonly memory = new SharedArrayBuffer(COUNTERS * Int32Array.BYTES_PER_ELEMENT + SLOTS * SLOT)
  readonly #counters = new Int32Array(this.memory, 0, COUNTERS)
  readonly #texts = textsIn(this.memory)

  readonly #clock: Clock
  #next: Timer | undefined

  /** Its heart beats from now on; that keeps no process alive. */
  constructor(clock: Clock) {
    this.#clock = clock
    this.#beat()
  }

  began(what: string): void {
    const at = (Atomics.load(this.#counters, 1) % SLOTS) * SLOT
    this.#texts[at] = this.#texts.write(what.slice(0, SLOT - 1), at + 1, SLOT - 1, 'latin1')
    Atomics.add(this.#counters, 1, 1)
  }

  [Symbol.dispose](): void {
    this.#next?.cancel()
  }

  #beat(): void {
    Atomics.add(this.#counters, 0, 1)
    this.#next = this.#clock.setTimer(BEAT_MS, () => this.#beat())
  }
}

/** Read by the thread that watches. */
export class SeenActivity {
  readonly #counters: Int32Array
  readonly #texts: Buffer

  constructor(memory: SharedArrayBuffer) {
    this.#counters = new Int32Array(memory, 0, COUNTERS)
    this.#texts = textsIn(memory)
  }

  get beats(): number {
    return Atomics.load(this.#counters, 0)
  }

  /** The last one first. */
  lastBegun(): readonly string[] {
    const count = Atomics.load(this.#counters, 1)
    return Array.from({ length: Math.min(count, SLOTS) }, (_, back) => this.#text((count - 1 - back) % SLOTS))
  }

  #text(slot: number): string {
    const at = slot * SLOT
    const text = this.#texts.toString('latin1', at + 1, at + 1 + (this.#texts[at] ?? 0))
    return text.replaceAll(/[^\x20-\x7e]/gu, '?')
  }
}

function textsIn(memory: SharedArrayBuffer): Buffer {
  return Buffer.from(memory, COUNTERS * Int32Array.BYTES_PER_ELEMENT)
}
