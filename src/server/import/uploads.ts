/** Exported sessions that arrive in parts, from clients that share no disk with the server. */
import { appendFileSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fail } from '../../errors/parley-error.ts'
import type { Clock } from '../../ports/clock.ts'

/** A client that went away in the middle does not come back to it. Milliseconds. */
const ABANDONED_MS = 60 * 60_000
/** Of all that lie here at once. */
const MAX_BYTES = 1024 ** 3

const ID = /^[\w-]{1,64}$/u

export class Uploads {
  readonly #directory: string
  readonly #clock: Pick<Clock, 'now' | 'id'>
  readonly #maxBytes: number

  constructor(home: string, clock: Pick<Clock, 'now' | 'id'>, maxBytes = MAX_BYTES) {
    this.#maxBytes = maxBytes
    this.#directory = join(home, 'uploads')
    this.#clock = clock
  }

  /** Appends to the upload of this id, or begins one. Returns its id. Throws UPLOAD_UNKNOWN and UPLOADS_FULL. */
  append(id: string | undefined, part: Buffer): string {
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 })
    this.#removeAbandoned()
    if (this.#bytes() + part.length > this.#maxBytes) fail('UPLOADS_FULL', { mebibytes: this.#maxBytes / 1024 ** 2 })
    if (id !== undefined) {
      appendFileSync(this.pathOf(id), part)
      return id
    }
    const begun = this.#clock.id()
    writeFileSync(this.#at(begun), part, { flag: 'wx', mode: 0o600 })
    return begun
  }

  /** Throws UPLOAD_UNKNOWN. */
  pathOf(id: string): string {
    const path = this.#at(ID.test(id) ? id : '')
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true ? path : fail('UPLOAD_UNKNOWN', {})
  }

  remove(id: string): void {
    rmSync(this.pathOf(id), { force: true })
  }

  #at(id: string): string {
    return join(this.#directory, `${id}.jsonl`)
  }

  #removeAbandoned(): void {
    for (const path of this.#paths()) {
      const found = statSync(path, { throwIfNoEntry: false })
      if (found !== undefined && this.#clock.now() - found.mtimeMs > ABANDONED_MS) rmSync(path, { force: true })
    }
  }

  #bytes(): number {
    return this.#paths().reduce((sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0), 0)
  }

  #paths(): readonly string[] {
    return readdirSync(this.#directory).map((name) => join(this.#directory, name))
  }
}
