/** What the reader has opened and shut, by the ids of items; kept over a reload. */
import { type Signal, signal } from '@preact/signals'
import { keep, kept } from '../sessions/kept.ts'

export class Folds {
  readonly #key: string
  readonly #open: Signal<Readonly<Record<string, boolean>>>

  constructor(sessionId: string) {
    this.#key = `folds.${sessionId}`
    this.#open = signal((kept(this.#key) ?? {}) as Readonly<Record<string, boolean>>)
  }

  isOpen(id: string, unless = false): boolean {
    return this.#open.value[id] ?? unless
  }

  set(id: string, isOpen: boolean): void {
    this.#open.value = { ...this.#open.value, [id]: isOpen }
    keep(this.#key, this.#open.value)
  }
}
