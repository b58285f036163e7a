/**
 * The index and the journal that it follows, in the index thread: answers queries, catches up with the journal, and
 * rebuilds a damaged file.
 */
import type { IndexState, SearchAnswer, SearchRequest } from '../../../ports/search.ts'
import type { SessionId } from '../../../ports/journal.ts'
import { removeDatabase } from '../../../sqlite/database.ts'
import { Statements } from '../../../sqlite/statements.ts'
import { type IndexFile, isDamaged, openSearchFile } from './file.ts'
import { find } from '../query/find.ts'
import { inspect } from './inspect.ts'
import { type Follows, Projection } from './index-journal.ts'

export interface IndexParts extends Follows {
  readonly path: string
}

interface Opened {
  readonly file: IndexFile
  readonly statements: Statements
  readonly projection: Projection
}

export class Index {
  readonly #parts: IndexParts
  #opened: Opened | undefined

  constructor(parts: IndexParts) {
    this.#parts = parts
  }

  changed(sessions: Iterable<SessionId>): void {
    this.#open().projection.changed(sessions)
  }

  /** Catches up for so many milliseconds; false when there is nothing left to do. */
  work(ms: number): boolean {
    return this.#guarded(({ projection }) => {
      const { clock } = this.#parts
      const deadline = clock.monotonicNow() + ms
      while (projection.step()) if (clock.monotonicNow() >= deadline) return true
      return false
    })
  }

  search({ timeoutMs, ...asked }: SearchRequest): SearchAnswer {
    this.#guarded(({ projection }) => projection.lookAround())
    this.work(timeoutMs)
    return this.#guarded(({ statements, projection }) => {
      const behind = projection.behind()
      return { ...find(statements, this.#parts.source, asked), behind }
    })
  }

  inspect(): IndexState {
    return inspect(this.#parts.path, this.#parts.source)
  }

  close(): void {
    this.#opened?.file.db.close()
    this.#opened = undefined
  }

  /** Creates a damaged file again, but only once: a second failure has another cause than the file. */
  #guarded<Result>(act: (opened: Opened) => Result): Result {
    try {
      return act(this.#open())
    } catch (error) {
      if (!isDamaged(error)) {
        this.close()
        throw error
      }
      this.#discard()
      return act(this.#open())
    }
  }

  #discard(): void {
    const { path, report } = this.#parts
    report(`the search index ${path} is damaged and is made anew`)
    this.close()
    removeDatabase(path)
  }

  /** A user may have deleted the file; then a new one is created. */
  #open(): Opened {
    if (this.#opened?.file.isThere() === false) this.close()
    this.#opened ??= this.#openFile()
    return this.#opened
  }

  #openFile(): Opened {
    const file = openSearchFile(this.#parts.path)
    const statements = new Statements(file.db, 'objects')
    return { file, statements, projection: new Projection(statements, this.#parts) }
  }
}
