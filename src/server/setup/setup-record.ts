/** What `parley setup` has written, so that it can be undone: in the state directory, the newest last. */
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { replaceFile } from '../../state-files/atomic-file.ts'
import { readTextSync } from '../../state-files/bounded-read.ts'
import { isWritten, valueIn, writeValue } from './json-edit.ts'
import type { JsonEdit } from './editors.ts'

interface Recorded extends JsonEdit {
  readonly editor: string
  /** The former value; absent if there was none. */
  readonly before?: unknown
  /** How much of the path was there: the objects behind it were made for the value. */
  readonly found: number
  readonly isNewFile: boolean
}

export interface Undone {
  readonly editor: string
  readonly file: string
  /** False where the value has been changed since: it is left as it is. */
  readonly undone: boolean
}

export class SetupRecord {
  readonly #path: string

  constructor(home: string) {
    this.#path = join(home, 'setup.json')
  }

  /** Writes the value, and first how to take it back. */
  async write(editor: string, edit: JsonEdit): Promise<void> {
    const { file, path } = edit
    const earlier = this.#all().find((entry) => entry.editor === editor && entry.file === file)
    const isOurs = earlier !== undefined && (await isWritten(file, path, earlier.value))
    // After two writes, what stood there before the first one is what is to come back.
    const original = isOurs ? earlier : await originalOf(edit)
    const { before, found, isNewFile } = original
    const others = this.#all().filter((entry) => entry.editor !== editor)
    this.#keep([...others, { editor, ...edit, found, isNewFile, ...(before === undefined ? {} : { before }) }])
    await writeValue(file, path, edit.value)
  }

  /** Of the editors of these names, or of all. */
  async undo(names: readonly string[]): Promise<readonly Undone[]> {
    const undone: Undone[] = []
    for (const entry of this.#all()) {
      if (names.length > 0 && !names.includes(entry.editor)) continue
      const isOurs = await isWritten(entry.file, entry.path, entry.value)
      if (isOurs) await restore(entry)
      undone.push({ editor: entry.editor, file: entry.file, undone: isOurs })
      this.#keep(this.#all().filter(({ editor }) => editor !== entry.editor))
    }
    return undone
  }

  #all(): readonly Recorded[] {
    const text = readTextSync(this.#path)
    return text === undefined ? [] : (JSON.parse(text) as readonly Recorded[])
  }

  #keep(entries: readonly Recorded[]): void {
    mkdirSync(join(this.#path, '..'), { recursive: true, mode: 0o700 })
    replaceFile(this.#path, `${JSON.stringify(entries, null, 2)}\n`)
  }
}

type Original = Pick<Recorded, 'before' | 'found' | 'isNewFile'>

async function originalOf({ file, path }: JsonEdit): Promise<Original> {
  let found = 0
  while (found < path.length && (await valueIn(file, path.slice(0, found + 1))) !== undefined) found += 1
  return { before: await valueIn(file, path), found, isNewFile: !existsSync(file) }
}

/** Objects that were made for the value go with it, unless others have put something into them. */
async function restore({ file, path, before, found, isNewFile }: Recorded): Promise<void> {
  await writeValue(file, path, before)
  if (before !== undefined) return
  for (let depth = path.length - 1; depth > found; depth -= 1) {
    const around = path.slice(0, depth)
    if (await isWritten(file, around, {})) await writeValue(file, around, undefined)
  }
  if (isNewFile && /^\s*\{\s*\}\s*$/u.test(readFileSync(file, 'utf8'))) rmSync(file)
}
