/** Watches the main thread from another one: says in the log when it does not move, and ends the process when that lasts. */
import { appendFileSync } from 'node:fs'
import type { Clock } from '../../ports/clock.ts'
import { mainThreadStack } from './main-thread-stack.ts'
import { SeenActivity } from './shared-activity.ts'

/** The data that the watchdog thread is started with. */
export interface WatchOrder {
  readonly memory: SharedArrayBuffer
  /** The log of the server, to which lines are added as pino writes them. */
  readonly logPath: string
  /** Seconds without a movement after which the process is ended; 0 is never. */
  readonly maxStallSeconds: number
}

/** Between two looks. Looks are counted and not the time, in which the whole machine may have slept. */
const POLL_MS = 1_000
/** Consecutive checks without progress before the stall is logged. */
const LOOKS_TO_TELL = 3

export class StallWatch {
  readonly #order: WatchOrder
  readonly #clock: Clock
  readonly #seen: SeenActivity
  #beats = 0
  #stillLooks = 0
  #ended = false

  constructor(order: WatchOrder, clock: Clock) {
    this.#order = order
    this.#clock = clock
    this.#seen = new SeenActivity(order.memory)
  }

  /** Watches until `stop`. */
  start(): void {
    this.#clock.setTimer(POLL_MS, () => {
      if (this.#ended) return
      this.#look()
      this.start()
    })
  }

  stop(): void {
    this.#ended = true
  }

  #look(): void {
    const { beats } = this.#seen
    if (beats !== this.#beats) {
      if (this.#stillLooks >= LOOKS_TO_TELL)
        this.#say(40, `The main thread moves again. It had not moved for about ${this.#stillLooks} s.`)
      this.#beats = beats
      this.#stillLooks = 0
      return
    }
    this.#stillLooks += 1
    if (this.#stillLooks === LOOKS_TO_TELL) void this.#tell()
    const { maxStallSeconds } = this.#order
    if (maxStallSeconds > 0 && this.#stillLooks >= maxStallSeconds) this.#end(maxStallSeconds)
  }

  async #tell(): Promise<void> {
    const lastBegun = this.#seen.lastBegun()
    const stack = await mainThreadStack(this.#clock).catch(() => [])
    this.#say(50, `The main thread has not moved for ${LOOKS_TO_TELL} s, so no client is answered.`, {
      lastBegun,
      stack,
    })
  }

  /** Ends the process. Stored entries are safe, the guard ends the children, and clients reconnect to the next server. */
  #end(seconds: number): void {
    this.#say(
      50,
      `The main thread has not moved for ${seconds} s: this server ends itself, so that another can be started.`,
      {
        lastBegun: this.#seen.lastBegun(),
      },
    )
    process.kill(process.pid, 'SIGKILL')
  }

  #say(level: number, msg: string, details: object = {}): void {
    const line = { level, time: this.#clock.now(), pid: process.pid, ...details, msg }
    try {
      appendFileSync(this.#order.logPath, `${JSON.stringify(line)}\n`, { mode: 0o600 })
    } catch {
      // A disk that is full keeps nothing from going on.
    }
  }
}
