/** A journal whose disk is as slow, as full and as forgetful as a test wants it. */
import { memoryJournal } from '../../src/adapters/journal/memory.ts'
import { fail } from '../../src/errors/parley-error.ts'
import type { Append, Journal, PageLimits, SessionId, StoredEntry } from '../../src/ports/journal.ts'
import { type Entry, decodeEntry } from '../../src/session/domain/entries.ts'

/** `unwritable`: it can only be read. `damaged`: of the file a part is gone for good. `lost answer`: it is stored, but whoever asked is told that it is not. `conflict`: somebody else wrote first. */
export type Trouble = 'none' | 'full' | 'unwritable' | 'damaged' | 'conflict' | 'lost answer' | 'unreadable'

export class Disk implements Journal {
  readonly #journal = memoryJournal()
  readonly #stored = new Map<SessionId, number>()
  #held = false
  #waiting: (() => void)[] = []
  trouble: Trouble = 'none'
  /** The trouble of the next append alone. */
  next: Trouble = 'none'
  /** How many entries each append carried. */
  readonly batches: number[] = []

  /** The last entry of the session that survives a power cut. */
  stored(id: SessionId): number {
    return this.#stored.get(id) ?? 0
  }

  async entries(id: SessionId, from = 0): Promise<readonly Entry[]> {
    const all = await this.#journal.page(id, from, { entries: 1_000_000, chars: Number.MAX_SAFE_INTEGER })
    return all.map(decodeEntry)
  }

  /** From now on whatever is asked of the disk waits. */
  hold(): void {
    this.#held = true
  }

  /** What waits, longest first. */
  get waiting(): number {
    return this.#waiting.length
  }

  /** One of those that wait is served. */
  serve(index = 0): void {
    this.#waiting.splice(index, 1)[0]?.()
  }

  release(): void {
    this.#held = false
    while (this.#waiting.length > 0) this.serve()
  }

  async append(append: Append): Promise<void> {
    await this.#turn()
    const { id } = append.row
    const { expected } = append
    const trouble = this.next === 'none' ? this.trouble : this.next
    this.next = 'none'
    if (trouble === 'full') fail('JOURNAL_FULL', { path: 'journal.db' })
    if (trouble === 'unwritable') fail('JOURNAL_IO', { path: 'journal.db', reason: 'it can only be read' })
    if (trouble === 'damaged') fail('JOURNAL_CORRUPT', { path: 'journal.db', reason: 'a page is missing' })
    if (trouble === 'conflict') fail('JOURNAL_CONFLICT', { session: id, expected, found: expected + 1 })
    await this.#journal.append(append)
    this.batches.push(append.entries.length)
    this.#stored.set(id, append.row.lastSeq)
    if (trouble === 'lost answer') fail('JOURNAL_IO', { path: 'journal.db', reason: 'the answer was lost' })
  }

  async fork(source: SessionId, append: Append): Promise<void> {
    await this.#turn()
    if (this.trouble === 'full') fail('JOURNAL_FULL', { path: 'journal.db' })
    await this.#journal.fork(source, append)
    this.#stored.set(append.row.id, append.row.lastSeq)
  }

  async page(id: SessionId, from: number, limits: PageLimits): Promise<readonly StoredEntry[]> {
    await this.#turn()
    if (this.trouble === 'damaged') fail('JOURNAL_CORRUPT', { path: 'journal.db', reason: 'a page is missing' })
    if (this.trouble === 'unreadable') fail('JOURNAL_IO', { path: 'journal.db', reason: 'it cannot be read' })
    return this.#journal.page(id, from, limits)
  }

  readonly find: Journal['find'] = (id, wanted, limits) => this.#journal.find(id, wanted, limits)
  readonly read: Journal['read'] = (id, from, signal) => this.#journal.read(id, from, signal)
  readonly watch: Journal['watch'] = (listener) => this.#journal.watch(listener)
  readonly head: Journal['head'] = (id) => this.#journal.head(id)
  readonly list: Journal['list'] = (query) => this.#journal.list(query)
  readonly delete: Journal['delete'] = (id) => this.#journal.delete(id)
  readonly close: Journal['close'] = () => this.#journal.close()

  async #turn(): Promise<void> {
    if (this.#held) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }
}
