/** Reports sessions that other nodes have changed or deleted, by polling the newest of the list. */
import type { Clock } from '../../../../ports/clock.ts'
import type { SessionChange, SessionId, SessionSummary } from '../../../../ports/journal.ts'
import type { AbortSource } from '../../../../ports/values/signal.ts'
import type { PostgresJournal } from '../postgres-journal.ts'

const PAUSE_MS = 1_000
/** Sessions that are looked at. One that is deleted further down is gone from lists that are loaded anew. */
const NEWEST = 200

type Listener = (change: SessionChange) => void

export class ChangesElsewhere {
  readonly #journal: Pick<PostgresJournal, 'list' | 'holds'>
  readonly #clock: Pick<Clock, 'sleep'>
  readonly #ended: AbortSource
  readonly #listeners = new Set<Listener>()
  /** As of the last query; undefined without a listener. */
  #known: ReadonlyMap<SessionId, SessionSummary> | undefined
  #looking: Promise<void> | undefined

  constructor(journal: Pick<PostgresJournal, 'list' | 'holds'>, clock: Pick<Clock, 'sleep' | 'abortSource'>) {
    this.#journal = journal
    this.#clock = clock
    this.#ended = clock.abortSource()
  }

  watch(listener: Listener): () => void {
    this.#listeners.add(listener)
    this.#looking ??= this.#run()
    return () => this.#listeners.delete(listener)
  }

  async close(): Promise<void> {
    this.#ended.abort()
    await this.#looking
  }

  async #run(): Promise<void> {
    while (!this.#ended.signal.aborted) {
      // While the database is away there is no news. The next look finds all that came meanwhile.
      await this.#look().catch(() => undefined)
      await this.#clock.sleep(PAUSE_MS, this.#ended.signal).catch(() => undefined)
    }
  }

  async #look(): Promise<void> {
    const before = this.#known
    this.#known = undefined
    if (this.#listeners.size === 0) return
    const rows = await this.#journal.list({ limit: NEWEST }).catch((error: unknown) => {
      this.#known = before
      throw error
    })
    this.#known = new Map(rows.map((row) => [row.id, row]))
    if (before !== undefined) for (const change of changesIn(before, rows)) this.#tell(change)
  }

  /** Of its own sessions this node hears at once. */
  #tell(change: SessionChange): void {
    if (this.#journal.holds(change.kind === 'changed' ? change.row.id : change.id)) return
    for (const listener of this.#listeners) listener(change)
  }
}

/** What has happened to the newest sessions between two looks. */
export function changesIn(
  before: ReadonlyMap<SessionId, SessionSummary>,
  rows: readonly SessionSummary[],
): readonly SessionChange[] {
  const now = new Set(rows.map(({ id }) => id))
  const oldest = rows.length < NEWEST ? Number.NEGATIVE_INFINITY : (rows.at(-1)?.updatedAt ?? 0)
  const removed = [...before.values()].filter(({ id, updatedAt }) => !now.has(id) && updatedAt > oldest)
  const changed = rows.filter(({ id, lastSeq, updatedAt }) => {
    const known = before.get(id)
    return known === undefined || known.lastSeq !== lastSeq || known.updatedAt !== updatedAt
  })
  return [
    ...removed.map(({ id }): SessionChange => ({ kind: 'removed', id })),
    ...changed.toReversed().map((row): SessionChange => ({ kind: 'changed', row })),
  ]
}
