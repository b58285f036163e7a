/** A client's end of a session: what it was told, whether it was told too early, and whether it keeps up. */
import type { AgentActivity } from '../../src/ports/agent.ts'
import type { Entry } from '../../src/session/domain/entries.ts'
import type { SessionPush, SessionSink, SessionView } from '../../src/session/handle.ts'
import type { Disk } from './disk.ts'

export class Reader implements SessionSink {
  readonly entries: Entry[] = []
  readonly failures: unknown[] = []
  /** The last view that it was given; undefined while it was behind. */
  view: SessionView | undefined
  /** What it was told before it was stored: there must never be any. */
  readonly early: Entry[] = []
  /** Why nothing was to be seen of the agent, as it was told. */
  readonly activities: (AgentActivity | undefined)[] = []
  /** Whatever it was pushed besides entries. */
  readonly others: SessionPush[] = []
  onNotice: () => void = () => {}
  /** What its `push` of entries throws. */
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

  push(push: SessionPush): void {
    if (push.kind === 'failed') this.failures.push(push.error)
    if (push.kind === 'agent') this.activities.push(push.activity)
    if (push.kind === 'notice') this.onNotice()
    if (push.kind !== 'entries') return void this.others.push(push)
    this.view = push.view
    this.#take(push.entries)
  }

  #take(entries: readonly Entry[]): void {
    if (this.refuses !== undefined) throw this.refuses
    this.early.push(...entries.filter(({ seq }) => seq > this.#disk.stored(this.#session)))
    this.entries.push(...entries)
    if (this.#stalled) this.owed += entries.length
  }

  isBackpressured(): boolean {
    return this.#stalled
  }

  async drained(): Promise<void> {
    if (this.#stalled) await new Promise<void>((resolve) => this.#waiting.push(resolve))
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
