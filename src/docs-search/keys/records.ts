/** Small records that commands change while servers run, such as keys: one file each, so that two commands never write to the same file. */
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fail, reasonOf } from '../../errors/parley-error.ts'
import { createFile } from '../../state-files/atomic-file.ts'

const RECORD_NAME = /^[\p{L}\p{N}][\p{L}\p{N}._-]{0,63}$/u
const SUFFIX = '.json'
const KEYS_POLL_MS = 500

export interface RecordKind<Value> {
  /** In sentences: `key`. */
  readonly what: string
  /** Undefined for what is no such record. */
  readonly parse: (value: unknown) => Value | undefined
}

/** The records of one kind, in a directory that is made when the first one is written. */
export class Records<Value> {
  readonly #directory: string
  readonly #kind: RecordKind<Value>

  constructor(directory: string, kind: RecordKind<Value>) {
    this.#directory = directory
    this.#kind = kind
  }

  /** Throws DOCS_NAME_TAKEN, DOCS_NAME_INVALID or DOCS_RECORDS. */
  async add(name: string, value: Value): Promise<void> {
    const path = this.#pathOf(name)
    await this.#orFail(async () => {
      await mkdir(this.#directory, { recursive: true, mode: 0o700 })
      if (!createFile(path, `${JSON.stringify(value)}\n`)) fail('DOCS_NAME_TAKEN', { what: this.#kind.what, name })
    })
  }

  /** Throws DOCS_NAME_UNKNOWN or DOCS_RECORDS. */
  async remove(name: string): Promise<void> {
    const path = this.#pathOf(name)
    await this.#orFail(async () => {
      if (!(await isThere(path))) fail('DOCS_NAME_UNKNOWN', { what: this.#kind.what, name })
      await rm(path, { force: true })
    })
  }

  /** In the order of their names. A file that is no such record is ignored. */
  async all(): Promise<ReadonlyMap<string, Value>> {
    const found = new Map<string, Value>()
    for (const file of (await this.#files()).toSorted()) {
      const value = await this.#read(join(this.#directory, file))
      if (value !== undefined) found.set(file.slice(0, -SUFFIX.length), value)
    }
    return found
  }

  /** Calls back with all of them soon, and whenever they are others. Returns how to stop. */
  watch(changed: (records: ReadonlyMap<string, Value>) => void): () => void {
    let reported: string | undefined
    const look = async () => {
      const records = await this.all()
      const now = JSON.stringify([...records])
      if (reported !== now) changed(records)
      reported = now
    }
    // Polls, because the files are few and small, and systems differ in how they report a directory that does not exist yet.
    const timer = setInterval(() => void look(), KEYS_POLL_MS).unref()
    void look()
    return () => clearInterval(timer)
  }

  #pathOf(name: string): string {
    if (!RECORD_NAME.test(name)) fail('DOCS_NAME_INVALID', { what: this.#kind.what, name: JSON.stringify(name) })
    return join(this.#directory, `${name}${SUFFIX}`)
  }

  async #files(): Promise<readonly string[]> {
    try {
      return (await readdir(this.#directory)).filter((file) => file.endsWith(SUFFIX) && !file.startsWith('.'))
    } catch {
      // Nothing was ever written.
      return []
    }
  }

  async #read(path: string): Promise<Value | undefined> {
    try {
      return this.#kind.parse(JSON.parse(await readFile(path, 'utf8')))
    } catch {
      // Removed since it was listed, or not written by us.
      return undefined
    }
  }

  async #orFail(step: () => Promise<void>): Promise<void> {
    try {
      await step()
    } catch (error) {
      if (!(error instanceof Error && 'syscall' in error)) throw error
      fail('DOCS_RECORDS', { path: this.#directory, reason: reasonOf(error) }, error)
    }
  }
}

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
