/** How far each person has seen each session, on any device. Turns that ended after that are unread. */
import type { Cursor, SessionId, SessionSummary } from '../ports/journal.ts'

/** As it is stored. */
export interface StoredMarks {
  readonly [person: string]: {
    /** When the person came first; what ended before is not unread. Milliseconds since 1970. */
    readonly since: number
    readonly seen: Readonly<Record<SessionId, Cursor>>
  }
}

interface Marks {
  readonly since: number
  readonly seen: Map<SessionId, Cursor>
}

export interface SeenStorage {
  readonly now: () => number
  /** Resolves when the marks are stored. Called again only after that. */
  readonly save: (marks: StoredMarks) => Promise<void>
}

type Listener = (person: string, id: SessionId) => void

export class SeenMarks {
  readonly #people: Map<string, Marks>
  readonly #storage: SeenStorage
  readonly #listeners = new Set<Listener>()
  #saving: Promise<void> | undefined
  #isStale = false

  constructor(stored: StoredMarks, storage: SeenStorage) {
    this.#storage = storage
    this.#people = new Map(
      Object.entries(stored).map(([person, { since, seen }]) => [
        person,
        { since, seen: new Map(Object.entries(seen)) },
      ]),
    )
  }

  isUnread(person: string, { id, standing }: SessionSummary): boolean {
    const { since, seen } = this.#of(person)
    const { lastEnd } = standing ?? {}
    const mark = seen.get(id)
    if (lastEnd === undefined) return false
    return mark === undefined ? lastEnd.at > since : lastEnd.seq > mark
  }

  /** By hand a session can also become unread again: the mark may go back. Resolves when it is stored. */
  async mark(person: string, id: SessionId, seq: Cursor): Promise<void> {
    const { seen } = this.#of(person)
    if (seen.get(id) === seq) return
    seen.set(id, seq)
    for (const listener of this.#listeners) listener(person, id)
    await this.#save()
  }

  /** The session is deleted. Resolves when that is stored. */
  async forget(id: SessionId): Promise<void> {
    const had = [...this.#people.values()].map(({ seen }) => seen.delete(id))
    if (had.includes(true)) await this.#save()
  }

  /** Calls `listener` with each mark that changes; returns how to stop. */
  watch(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #of(person: string): Marks {
    const known = this.#people.get(person) ?? { since: this.#storage.now(), seen: new Map<SessionId, Cursor>() }
    this.#people.set(person, known)
    return known
  }

  /** One write at a time; marks that come meanwhile share the next. */
  async #save(): Promise<void> {
    this.#isStale = true
    while (this.#isStale) {
      this.#saving ??= this.#saveOnce()
      await this.#saving
    }
  }

  async #saveOnce(): Promise<void> {
    this.#isStale = false
    try {
      await this.#storage.save(this.#stored())
    } finally {
      this.#saving = undefined
    }
  }

  #stored(): StoredMarks {
    const people = [...this.#people].map(([person, { since, seen }]) => [
      person,
      { since, seen: Object.fromEntries(seen) },
    ])
    return Object.fromEntries(people) as StoredMarks
  }
}
