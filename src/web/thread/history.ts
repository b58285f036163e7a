/** What came before the part of a conversation that is here: fetched page by page, as the reader goes there. */
import { signal } from '@preact/signals'
import type { SessionPage } from '../../client/sessions/stored-sessions.ts'

/** Messages and calls of a page. The first is what a reader sees; further ones come before the reader needs them. */
const FIRST = 100
const NEXT = 200
const MAX_PAGE = 500

export interface HistorySource {
  page(before: number, limit: number): Promise<SessionPage>
  /** Pages that stand one behind the other, the oldest first. */
  prepend(pages: readonly SessionPage[]): void
}

export class History {
  readonly isLoading = signal(false)
  /** Why the last page did not come. */
  readonly trouble = signal('')
  readonly #source: HistorySource
  /** All from this entry on is here. */
  #from = 1
  /** One at a time; false when it has failed. */
  #running: Promise<boolean> | undefined

  constructor(source: HistorySource) {
    this.#source = source
  }

  reaches(seq: number): boolean {
    return this.#from <= Math.max(seq, 1)
  }

  get hasMore(): boolean {
    return this.#from > 1
  }

  /** Entries up to `head` come with pages, and later ones by themselves. Throws when the first page does not come. */
  async begin(head: number, seq: number): Promise<void> {
    this.#from = head + 1
    if (this.hasMore) await this.#fetch(head + 1, FIRST)
    if (this.#from > seq) await this.reach(seq)
  }

  /** One page more, unless one is on its way. */
  older(): void {
    if (this.hasMore && this.#running === undefined) void this.#run(() => this.#fetch(this.#from, NEXT))
  }

  /** Resolves when all from this entry on is here, or when a page did not come. */
  async reach(seq: number): Promise<void> {
    while (this.#from > Math.max(seq, 1)) {
      // Others may have waited for the same page, and the first of them runs the next one.
      const running = this.#running ?? this.#run(() => this.#fetch(seq, MAX_PAGE))
      if (!(await running)) return
    }
  }

  #run(work: () => Promise<void>): Promise<boolean> {
    this.isLoading.value = true
    this.trouble.value = ''
    this.#running = work()
      .then(() => true)
      .catch((error: unknown) => {
        this.trouble.value = error instanceof Error ? error.message : String(error)
        return false
      })
      .finally(() => {
        this.isLoading.value = false
        this.#running = undefined
      })
    return this.#running
  }

  /** Pages until the entry `seq` is here, at least one; shown together, so that a reader is moved once. */
  async #fetch(seq: number, limit: number): Promise<void> {
    const pages: SessionPage[] = []
    let from = this.#from
    try {
      do {
        const page = await this.#source.page(from, limit)
        pages.unshift(page)
        from = page.more ? Math.min(page.from, from - 1) : 1
      } while (from > Math.max(seq, 1))
    } finally {
      this.#from = from
      if (pages.length > 0) this.#source.prepend(pages)
    }
  }
}
