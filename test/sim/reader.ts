/** A client's end of a session: what it was told, whether it was told too early, and whether it keeps up. */
import type { Entry } from '../../src/session/domain/entries.ts'
import type { SubscriptionSink } from '../../src/session/subscribers/subscription.ts'
import type { Disk } from './disk.ts'

export class Reader implements SubscriptionSink {
  readonly entries: Entry[] = []
  readonly failures: unknown[] = []
  /** What it was told before it was stored: there must never be any. */
  readonly early: Entry[] = []
  /** What its `take` throws. */
  refuses: Error | undefined
  readonly cutOffs: unknown[] = []
  /** What it was told while it did not read. */
  owed = 0
  readonly #disk: Disk
  readonly #session: string
  #stalled = false
  #waiting: (() => void)[] = []

  constructor(disk: Disk, session: string) {
    this.#disk = disk
    this.#session = session
  }

  take(entries: readonly Entry[]): void {
    if (this.refuses !== undefined) throw this.refuses
    this.early.push(...entries.filter(({ seq }) => seq > this.#disk.stored(this.#session)))
    this.entries.push(...entries)
    if (this.#stalled) this.owed += entries.length
  }

  congested(): boolean {
    return this.#stalled
  }

  async room(): Promise<void> {
    if (this.#stalled) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  failed(error: unknown): void {
    this.failures.push(error)
  }

  cutOff(error: unknown): void {
    this.cutOffs.push(error)
  }

  stall(): void {
    this.#stalled = true
  }

  readOn(): void {
    this.#stalled = false
    for (const resume of this.#waiting.splice(0)) resume()
  }

  get kinds(): readonly string[] {
    return this.entries.map(({ kind }) => kind)
  }

  get text(): string {
    return this.entries
      .flatMap((entry) =>
        entry.kind === 'message_chunk' && entry.role === 'agent' && entry.content.type === 'text'
          ? [entry.content.text]
          : [],
      )
      .join('')
  }
}
