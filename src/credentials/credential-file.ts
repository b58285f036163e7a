/** One file of credentials in the state directory, for the user's eyes only. It is changed whole or not at all. */
import { dirname, join } from 'node:path'
import { fail, isParleyError, reasonOf } from '../errors/parley-error.ts'
import { replaceFile } from '../state-files/atomic-file.ts'
import { readTextSync } from '../state-files/bounded-read.ts'
import { lockedNow, tryLock } from '../state-files/file-lock.ts'
import { makeDirectory } from '../state-files/make-directory.ts'

export interface Form<Content> {
  /** Of a file that does not exist yet. */
  readonly empty: Content
  isContent(value: unknown): value is Content
}

export class CredentialFile<Content> {
  readonly path: string
  readonly #form: Form<Content>

  constructor(home: string, name: string, form: Form<Content>) {
    this.path = join(home, name)
    this.#form = form
  }

  /** Throws TOKENS_UNUSABLE. */
  read(): Content {
    let text: string | undefined
    let parsed: unknown
    try {
      text = readTextSync(this.path)
      parsed = text === undefined ? this.#form.empty : JSON.parse(text)
    } catch (error) {
      // The parser would quote what it read.
      return this.#unusable(text === undefined ? reasonOf(error) : 'it is not JSON', error)
    }
    return this.#form.isContent(parsed) ? parsed : this.#unusable('it does not have the form that Parley wrote')
  }

  /** One change after the other, of all processes; what `change` throws leaves the file as it is. Throws TOKENS_UNUSABLE and TOKENS_UNCHANGED. */
  change<Result>(change: (content: Content) => { readonly content: Content; readonly result: Result }): Result {
    try {
      makeDirectory(dirname(this.path))
      return lockedNow(this.path, () => {
        const { content, result } = change(this.read())
        this.#write(content)
        return result
      })
    } catch (error) {
      if (isParleyError(error)) throw error
      return fail('TOKENS_UNCHANGED', { path: this.path, reason: reasonOf(error) }, error)
    }
  }

  /** For a change that nothing needs: it is left out while another process changes the file. */
  changeIfFree(change: (content: Content) => Content): void {
    const lock = tryLock(`${this.path}.lock`)
    if (lock === undefined) return
    try {
      this.#write(change(this.read()))
    } finally {
      lock.release()
    }
  }

  #write(content: Content): void {
    replaceFile(this.path, `${JSON.stringify(content, null, 2)}\n`)
  }

  #unusable(reason: string, cause?: unknown): never {
    return fail('TOKENS_UNUSABLE', { path: this.path, reason }, cause)
  }
}

/** A client that connects again and again does not cause a write each time. */
const USE_STEP_MS = 60_000

/** Whether a use now must be noted, after the last one that was. */
export function isUseDue(lastUsed: string | undefined, now: number): boolean {
  return lastUsed === undefined || Math.abs(now - Date.parse(lastUsed)) >= USE_STEP_MS
}
