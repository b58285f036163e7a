/**
 * Which sessions of an agent were imported, one small file for each agent. What is listed here and is no session any more was
 * deleted by the user, and is not brought back by importing all.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { replaceFile } from '../../../../state-files/atomic-file.ts'
import { readTextSync } from '../../../../state-files/bounded-read.ts'

const MAX_BYTES = 16 * 1024 * 1024

/** The agent's own id, and that of the session here. */
const shape = z.record(z.string(), z.string())

export class TakenSessions {
  readonly #directory: string

  /** `directory` is `<state>/agents`. */
  constructor(directory: string) {
    this.#directory = join(directory, 'imported')
  }

  /** Throws where the file is there and cannot be read: what was deleted must not come back. */
  of(name: string): ReadonlyMap<string, string> {
    const text = readTextSync(this.#file(name), MAX_BYTES)
    return new Map(text === undefined ? [] : Object.entries(shape.parse(JSON.parse(text))))
  }

  /** Throws where the state directory cannot be written. */
  put(name: string, taken: ReadonlyMap<string, string>): void {
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 })
    replaceFile(this.#file(name), `${JSON.stringify(Object.fromEntries(taken))}\n`)
  }

  #file(name: string): string {
    return join(this.#directory, `${name}.json`)
  }
}
