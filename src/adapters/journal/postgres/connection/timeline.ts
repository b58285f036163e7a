/**
 * Which server of a database is the present one. Each standby that is promoted begins a timeline with a higher number. A server of a
 * lower one was superseded: it may run on because it was not stopped, and what it acknowledges is lost.
 */
import { createHash } from 'node:crypto'
import type { Address } from './address.ts'

export class Timeline {
  readonly #place: string
  readonly #listeners = new Set<() => void>()
  #newest: number | undefined

  constructor({ shown }: Address) {
    this.#place = createHash('sha256').update(shown).digest('hex').slice(0, 16)
  }

  /** Undefined before the first connection, and where the server has none. */
  get newest(): number | undefined {
    return this.#newest
  }

  /** For other nodes: its number and, in an unreadable form, the address of the database. */
  get said(): string | undefined {
    return this.#newest === undefined ? undefined : `${this.#newest} ${this.#place}`
  }

  /** From another node. One whose database has another address may use a restored copy of this one, which is none of its servers. */
  heard(said: string): void {
    const [, number, place] = /^(\d{1,10}) (\w+)$/u.exec(said) ?? []
    if (place === this.#place) this.#begun(Number(number))
  }

  /** A connection was made to a server of it. Throws if that server was superseded. */
  connected(timeline: number | undefined): void {
    if (timeline === undefined) return
    if (this.#newest !== undefined && timeline < this.#newest)
      throw new Error(
        `another server was promoted after it: its timeline is ${timeline}, that of the other ${this.#newest}`,
      )
    this.#begun(timeline)
  }

  /** Calls `listener` when a server was promoted; returns how to stop that. */
  whenPromoted(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #begun(timeline: number): void {
    const before = this.#newest
    this.#newest = Math.max(before ?? 0, timeline)
    if (before !== undefined && timeline > before) for (const listener of this.#listeners) listener()
  }
}
