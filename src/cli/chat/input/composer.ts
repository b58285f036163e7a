/** The line that a user types, and its completions: the commands that begin with the same letters. */
import type { Suggested } from '../../../client/connection/responses.ts'
import type { Key } from '../../output/terminal/keyboard.ts'
import { clean, oneLine } from '../../output/terminal/text.ts'
import type { Look } from '../../output/view/rows.ts'
import { LineEditor, type Pressed } from './editor.ts'
import { type EditorFrame, type WrittenRows, editorRows } from './editor-rows.ts'
import type { SlashCommand } from '../slash-commands.ts'

export interface Suggesting {
  /** The commands that may follow a slash. */
  commands(): readonly SlashCommand[]
  /** Completions for the arguments of a command. Never throws. */
  suggest(command: string, text: string): Promise<Suggested>
  /** The display has changed without a key. */
  changed(): void
}

const OFFERED = 8

export class ChatComposer {
  readonly editor = new LineEditor()
  readonly #suggesting: Suggesting
  /** The completions that Tab found, until the next key. */
  #found: readonly string[] = []

  constructor(suggesting: Suggesting) {
    this.#suggesting = suggesting
  }

  press(key: Key): Pressed {
    this.#found = []
    if (key.name !== 'tab') return this.editor.press(key)
    void this.#complete(this.editor.text)
    return 'changed'
  }

  /** The line, and below it what it could become. */
  rows(look: Look, frame: EditorFrame): WrittenRows {
    const { rows, cursor } = editorRows(this.editor, look, frame)
    return { rows: [...rows, ...this.#offers(look)], cursor }
  }

  #offers({ paint, width }: Look): readonly string[] {
    if (this.#found.length > 0) return [`  ${paint('dim', oneLine(this.#found.join(', '), width() - 2))}`]
    const fitting = this.#fitting(this.editor.text)
    const rows = fitting.slice(0, OFFERED).map(({ name, hint, description }) => {
      const words = oneLine(`/${name} ${hint}`, 26).padEnd(26)
      return `  ${paint('code', words)} ${paint('dim', oneLine(description, Math.max(1, width() - 30)))}`
    })
    const left = fitting.length - rows.length
    return left > 0 ? [...rows, paint('dim', `  … ${left} more`)] : rows
  }

  #fitting(text: string): readonly SlashCommand[] {
    if (!/^\/\S*$/u.test(text)) return []
    return this.#suggesting.commands().filter(({ name }) => `/${name}`.startsWith(text))
  }

  async #complete(typed: string): Promise<void> {
    if (!typed.startsWith('/')) return
    const [, command, text] = /^\/(\S+)\s+(.*)$/su.exec(typed) ?? []
    if (command !== undefined && text !== undefined) {
      const { value, values } = await this.#suggesting.suggest(command, text)
      // The user may have continued to type.
      if (this.editor.text === typed) this.#become(typed, value, values.map(fit))
    } else {
      const names = this.#fitting(typed).map(({ name }) => `/${name} `)
      if (names.length > 0) this.#become(typed, typed, names)
    }
    this.#suggesting.changed()
  }

  /** The only one, or what all of them have in common and is more than what stands there. */
  #become(typed: string, value: string, values: readonly string[]): void {
    const [first = '', ...others] = values
    const common = others.reduce(inCommon, first)
    if (common.length > value.length || others.length === 0)
      this.editor.set(typed.slice(0, typed.length - value.length) + (values.length === 0 ? value : common))
    this.#found = others.length === 0 || value === typed ? [] : values
  }
}

function fit(value: string): string {
  return clean(value).replaceAll('\n', ' ')
}

function inCommon(a: string, b: string): string {
  let length = 0
  while (length < a.length && a[length] === b[length]) length += 1
  return a.slice(0, length)
}
