/** Final rows, with the requested empty rows between them: never before the first, nor after the last. */
export class Settled {
  #rows: string[] = []
  /** Something was settled, and how many empty rows come before what is settled next. */
  #begun = false
  #gap = 0

  /** Whether an empty row comes before the next row. */
  get isApart(): boolean {
    return this.#gap > 0
  }

  /** The next row is the first again. */
  begin(): void {
    this.#begun = false
    this.#gap = 0
  }

  /** Sets apart what follows. */
  space(): void {
    if (this.#begun) this.#gap = Math.max(1, this.#gap)
  }

  push(rows: readonly string[]): void {
    for (const row of rows) {
      if (row.trim() !== '') {
        this.#rows.push(...Array.from({ length: this.#gap }, () => ''), row)
        this.#gap = 0
        this.#begun = true
      } else if (this.#begun) this.#gap += 1
    }
  }

  /** Returns the rows that were added since the last call. */
  take(): readonly string[] {
    const rows = this.#rows
    this.#rows = []
    return rows
  }
}
