/** Deletes, in the background, the entries of deleted sessions and of drafts that were never completed. */
import { isParleyError } from '../../../errors/parley-error.ts'
import type { Shard } from './shard.ts'

export class Sweeper {
  readonly #shard: Shard
  readonly #report: (error: unknown) => void
  #sweeping: Promise<void> | undefined
  #isWanted = false
  #isClosing = false

  constructor(shard: Shard, report: (error: unknown) => void) {
    this.#shard = shard
    this.#report = report
  }

  /** There may be something to clear away. */
  begin(): void {
    this.#isWanted = true
    this.#sweeping ??= this.#run().finally(() => (this.#sweeping = undefined))
  }

  /** What is left is for the next one. */
  async close(): Promise<void> {
    this.#isClosing = true
    await this.#sweeping
  }

  async #run(): Promise<void> {
    try {
      while (this.#isWanted && !this.#isClosing) {
        this.#isWanted = false
        await this.#sweepAll()
      }
    } catch (error) {
      // It is tried again after the next delete, and by the next process.
      if (!isParleyError(error, 'JOURNAL_CLOSED')) this.#report(error)
    }
  }

  async #sweepAll(): Promise<void> {
    const { statements } = this.#shard
    const { rows } = await this.#shard.read(statements.orphans, [])
    for (const [orphan] of rows) await this.#sweep(orphan ?? '0')
    if (rows.length > 0) this.#isWanted = true
  }

  async #sweep(orphan: string): Promise<void> {
    const { statements } = this.#shard
    for (let removed = 1; removed > 0 && !this.#isClosing;) {
      const { rows } = await this.#shard.write(statements.sweep, [orphan])
      removed = Number(rows[0]?.[0] ?? 0)
    }
    if (!this.#isClosing) await this.#shard.write(statements.swept, [orphan])
  }
}
