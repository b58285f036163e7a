/** What survives every crash of a simulated server: the journal, and a record of all that was ever stored in it. */
import { memoryJournal } from '../../src/adapters/journal/memory.ts'
import { fail } from '../../src/errors/parley-error.ts'
import type { Append, Journal, SessionId } from '../../src/ports/journal.ts'
import { type Entry, decodeEntry } from '../../src/session/domain/entries.ts'

export class Storage {
  readonly journal: Journal = memoryJournal()
  /** Kept when a session is deleted: what clients saw of it is judged by this. */
  readonly log = new Map<SessionId, Entry[]>()
  readonly deleted = new Set<SessionId>()
  /** Somebody else wrote to them: their owner lets go of them. */
  readonly lost = new Set<SessionId>()

  entries(id: SessionId): readonly Entry[] {
    return this.log.get(id) ?? []
  }

  async append(append: Append): Promise<void> {
    await this.journal.append(append)
    const { id } = append.row
    this.log.set(id, [...this.entries(id), ...append.entries.map(decodeEntry)])
  }

  /** The entries before those of `append` are the source's. */
  async fork(source: SessionId, append: Append): Promise<void> {
    await this.journal.fork(source, append)
    const { id } = append.row
    this.log.set(id, [...this.entries(source).slice(0, append.expected), ...append.entries.map(decodeEntry)])
  }

  async delete(id: SessionId): Promise<boolean> {
    this.deleted.add(id)
    return this.journal.delete(id)
  }
}

/** `lost answer`: it is stored, but whoever asked is told that it is not. `half`: it is stored, and no answer comes before `release`. */
export type Trouble = 'full' | 'io' | 'lost answer' | 'unreadable'

interface Waiting {
  readonly append: Append | undefined
  readonly serve: () => void
}

/** The way of one server's life to the storage: as slow and as faulty as the simulation wants, and cut when it is killed. */
export class SimDisk implements Journal {
  readonly #storage: Storage
  readonly #waiting: Waiting[] = []
  #isHeld = false
  #isCut = false
  /** What goes wrong with the next appends, in order. */
  readonly #troubles: Trouble[] = []

  constructor(storage: Storage) {
    this.#storage = storage
  }

  hold(): void {
    this.#isHeld = true
  }

  get waiting(): number {
    return this.#waiting.length
  }

  serve(index: number): void {
    this.#waiting.splice(index, 1)[0]?.serve()
  }

  trouble(next: Trouble): void {
    this.#troubles.push(next)
  }

  /** From now on it is well and quick. */
  release(): void {
    this.#isHeld = false
    this.#troubles.length = 0
    while (this.waiting > 0) this.serve(0)
  }

  /** kill -9: what was on its way may have got there; nobody hears of it. */
  async cut(gotThere: (index: number) => boolean): Promise<void> {
    this.#isCut = true
    const appends = this.#waiting.splice(0).flatMap(({ append }) => append ?? [])
    for (const [index, append] of appends.entries()) {
      // One that can no longer be stored lost its place to one that was.
      if (gotThere(index)) await this.#storage.append(append).catch(() => undefined)
    }
  }

  async append(append: Append): Promise<void> {
    const trouble = this.#troubles.shift()
    await this.#turn(append)
    if (trouble === 'full') fail('JOURNAL_FULL', { path: 'journal.db' })
    if (trouble === 'io') fail('JOURNAL_IO', { path: 'journal.db', reason: 'the disk failed' })
    await this.#storage.append(append).catch((error: unknown) => {
      this.#storage.lost.add(append.row.id)
      throw error
    })
    if (trouble === 'lost answer') fail('JOURNAL_IO', { path: 'journal.db', reason: 'the answer was lost' })
  }

  readonly page: Journal['page'] = async (id, from, limits) => {
    const isUnreadable = this.#troubles[0] === 'unreadable'
    if (isUnreadable) this.#troubles.shift()
    await this.#turn()
    if (isUnreadable) fail('JOURNAL_IO', { path: 'journal.db', reason: 'it cannot be read' })
    return this.#storage.journal.page(id, from, limits)
  }

  readonly find: Journal['find'] = async (id, wanted, limits) => {
    await this.#turn()
    return this.#storage.journal.find(id, wanted, limits)
  }

  readonly head: Journal['head'] = async (id) => {
    await this.#turn()
    return this.#storage.journal.head(id)
  }

  readonly fork: Journal['fork'] = async (source, append) => {
    await this.#turn(append)
    return this.#storage.fork(source, append)
  }

  readonly list: Journal['list'] = async (query) => {
    await this.#turn()
    return this.#storage.journal.list(query)
  }

  readonly delete: Journal['delete'] = async (id) => {
    await this.#turn()
    return this.#storage.delete(id)
  }

  readonly read: Journal['read'] = (id, from, signal) => this.#storage.journal.read(id, from, signal)
  readonly watch: Journal['watch'] = (listener) => this.#storage.journal.watch(listener)
  readonly close: Journal['close'] = async () => undefined

  async #turn(append?: Append): Promise<void> {
    if (this.#isCut) return new Promise(() => undefined)
    if (!this.#isHeld) return
    await new Promise<void>((serve) => this.#waiting.push({ append, serve }))
  }
}
