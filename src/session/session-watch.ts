/** Tells who lists the sessions of a server what changes in the list. */
import type { Journal, SessionId, SessionSummary } from '../ports/journal.ts'

export type SessionChange =
  /** The row as it is stored now; also of a session that is new. */
  { readonly kind: 'changed'; readonly row: SessionSummary } | { readonly kind: 'removed'; readonly id: SessionId }

export class SessionWatch {
  readonly #listeners = new Set<(change: SessionChange) => void>()
  readonly #report: (error: unknown) => void

  constructor(report: (error: unknown) => void) {
    this.#report = report
  }

  /** Returns how to stop. */
  add(listener: (change: SessionChange) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Never throws: what is stored is stored. */
  tell(change: SessionChange): void {
    for (const listener of this.#listeners) {
      try {
        listener(change)
      } catch (error) {
        this.#report(error)
      }
    }
  }

  /** The same journal; what is stored through it is reported. */
  over(journal: Journal): Journal {
    return {
      append: async (append) => {
        await journal.append(append)
        this.tell({ kind: 'changed', row: append.row })
      },
      fork: async (source, append) => {
        await journal.fork(source, append)
        this.tell({ kind: 'changed', row: append.row })
      },
      delete: async (id) => {
        const existed = await journal.delete(id)
        if (existed) this.tell({ kind: 'removed', id })
        return existed
      },
      page: (id, from, limits) => journal.page(id, from, limits),
      find: (id, wanted, limits) => journal.find(id, wanted, limits),
      read: (id, from, signal) => journal.read(id, from, signal),
      head: (id) => journal.head(id),
      list: (query) => journal.list(query),
      close: () => journal.close(),
    }
  }
}
