/** Sessions that append as fast as they are acknowledged, and what came of what was acknowledged. */
import type { PostgresJournal } from '../../../src/adapters/journal/postgres/postgres-journal.ts'
import { isParleyError, reasonOf } from '../../../src/errors/parley-error.ts'
import { appendOf, entriesOf, wide } from '../../contracts/journal-words.ts'

export interface Compared {
  readonly acknowledged: number
  /** Entries that were acknowledged and are not there. */
  readonly lost: number
  /** Sessions whose entries are not those that were appended, each once and in their order. */
  readonly wrong: readonly string[]
  /** Sessions that have lost entries, and those of which JOURNAL_WENT_BACK said so. */
  readonly losers: readonly string[]
  readonly named: readonly string[]
  /** What else appends failed with. */
  readonly errors: readonly string[]
}

interface Talker {
  readonly id: string
  acknowledged: number
  hasEnded: boolean
}

export class Load {
  readonly #journal: PostgresJournal
  readonly #talkers: readonly Talker[]
  readonly #named: string[] = []
  readonly #errors: string[] = []
  readonly #times: number[] = []
  readonly #running: Promise<unknown>
  #isOver = false

  constructor(journal: PostgresJournal, sessions: number) {
    this.#journal = journal
    this.#talkers = Array.from({ length: sessions }, (_, n) => ({ id: `s${n}`, acknowledged: 0, hasEnded: false }))
    this.#running = Promise.all(this.#talkers.map((talker) => this.#talk(talker)))
  }

  /** Resolves when each session has so many more acknowledgements, or has ended. */
  async more(count: number): Promise<void> {
    const before = this.#talkers.map(({ acknowledged }) => acknowledged)
    const isThere = () =>
      this.#talkers.every((one, index) => one.hasEnded || one.acknowledged >= (before[index] ?? 0) + count)
    while (!isThere()) await new Promise((resolve) => setTimeout(resolve, 5))
  }

  /** Milliseconds from that time of `performance.now()` to the next acknowledgement. */
  firstAfter(time: number): number {
    return (this.#times.find((one) => one > time) ?? Number.NaN) - time
  }

  async end(): Promise<Compared> {
    this.#isOver = true
    await this.#running
    const losers: string[] = []
    const wrong: string[] = []
    let lost = 0
    for (const { id, acknowledged } of this.#talkers) {
      const stored = await this.#journal.page(id, 0, wide)
      if (stored.length < acknowledged) losers.push(id)
      lost += Math.max(0, acknowledged - stored.length)
      if (JSON.stringify(stored) !== JSON.stringify(entriesOf(id, 0, stored.length))) wrong.push(id)
    }
    const acknowledged = this.#talkers.reduce((sum, one) => sum + one.acknowledged, 0)
    return { acknowledged, lost, wrong, losers, named: this.#named.toSorted(), errors: this.#errors }
  }

  async #talk(talker: Talker): Promise<void> {
    while (!this.#isOver)
      try {
        await this.#journal.append(appendOf(talker.id, talker.acknowledged, 1))
        talker.acknowledged += 1
        this.#times.push(performance.now())
      } catch (error) {
        if (isParleyError(error, 'JOURNAL_WENT_BACK')) this.#named.push(talker.id)
        else this.#errors.push(reasonOf(error))
        break
      }
    talker.hasEnded = true
  }
}
