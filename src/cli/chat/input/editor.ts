/** The editor of a prompt: several lines, words, text that was cut, and earlier prompts. */
import type { Key } from '../../output/terminal/keyboard.ts'
import { graphemesOf } from '../../output/terminal/text.ts'

/** `enter`: it is to be sent; `unused`: the key means nothing here. */
export type Pressed = 'changed' | 'enter' | 'unused'

/** Characters that a prompt may have. */
const MAX_LENGTH = 1_000_000

/** By `ctrl-`, `alt-` and the name of the key. */
type Edit = (editor: LineEditor) => Pressed

export class LineEditor {
  #text = ''
  /** Between two characters, as an offset in the text. */
  #cursor = 0
  #history: readonly string[] = []
  /** Which of them is shown, and what was written before. */
  #browsed: { readonly at: number; readonly draft: string } | undefined
  #cut = ''

  /** Earlier prompts, newest first. */
  remember(history: readonly string[]): void {
    this.#history = history
  }

  /** An earlier prompt is shown, also when it is empty. */
  get isBrowsing(): boolean {
    return this.#browsed !== undefined
  }

  get text(): string {
    return this.#text
  }

  get cursor(): number {
    return this.#cursor
  }

  get isEmpty(): boolean {
    return this.#text === ''
  }

  set(text: string, cursor = text.length): void {
    this.#text = text.slice(0, MAX_LENGTH)
    this.#cursor = Math.min(cursor, this.#text.length)
    this.#browsed = undefined
  }

  insert(text: string): void {
    const [before, behind] = this.#parts()
    this.set((before + text).slice(0, MAX_LENGTH) + behind, before.length + text.length)
  }

  /** Clears the text, which may be yanked back. */
  clear(): void {
    if (this.#text !== '') this.#cut = this.#text
    this.set('')
  }

  /** Empties it, and gives what is to be sent. */
  take(): string {
    const text = this.#text
    if (text.trim() !== '' && this.#history[0] !== text) this.#history = [text, ...this.#history]
    this.set('')
    return text
  }

  press(key: Key): Pressed {
    if (key.name === 'paste') return this.#did(() => this.insert(key.text))
    if (key.name === 'return') return this.#entered(key)
    const edit = EDITS.get(`${key.ctrl ? 'ctrl-' : ''}${key.alt === true ? 'alt-' : ''}${key.name}`)
    if (edit !== undefined) return edit(this)
    return key.text === '' ? 'unused' : this.#did(() => this.insert(key.text))
  }

  /** To the next place of its kind. */
  move(to: 'left' | 'right' | 'word left' | 'word right' | 'line start' | 'line end'): Pressed {
    return this.#did(() => (this.#cursor = this.#placeAt(to)))
  }

  /** Deletes from the cursor to a place, and keeps a longer piece for `yank`. */
  remove(to: Parameters<LineEditor['move']>[0], keeps: boolean): Pressed {
    const place = this.#placeAt(to)
    const [from, end] = [Math.min(place, this.#cursor), Math.max(place, this.#cursor)]
    if (from === end) return 'unused'
    if (keeps) this.#cut = this.#text.slice(from, end)
    return this.#did(() => this.set(this.#text.slice(0, from) + this.#text.slice(end), from))
  }

  newLine(): Pressed {
    return this.#did(() => this.insert('\n'))
  }

  yank(): Pressed {
    return this.#did(() => this.insert(this.#cut))
  }

  /** One line up or down; from the first or the last to an earlier or a later prompt. */
  vertical(step: -1 | 1): Pressed {
    const starts = lineStarts(this.#text)
    const line = starts.findLastIndex((start) => start <= this.#cursor)
    const next = starts[line + step]
    if (next === undefined) return this.#browse(step)
    const column = this.#cursor - (starts[line] ?? 0)
    const end = (starts[line + step + 1] ?? this.#text.length + 1) - 1
    return this.#did(() => (this.#cursor = boundary(this.#text, Math.min(next + column, end))))
  }

  #browse(step: -1 | 1): Pressed {
    const at = (this.#browsed?.at ?? -1) - step
    const draft = this.#browsed?.draft ?? this.#text
    const shown = at === -1 ? draft : this.#history[at]
    if (shown === undefined || (at === -1 && this.#browsed === undefined)) return 'unused'
    this.set(shown)
    if (at >= 0) this.#browsed = { at, draft }
    return 'changed'
  }

  /** A backslash at the end of the line, Alt and Shift make it a new line. */
  #entered({ alt, shift, ctrl }: Key): Pressed {
    const [before, behind] = this.#parts()
    if (before.endsWith('\\')) return this.#did(() => this.set(`${before.slice(0, -1)}\n${behind}`, before.length))
    return alt === true || shift === true || ctrl ? this.newLine() : 'enter'
  }

  #placeAt(to: Parameters<LineEditor['move']>[0]): number {
    const [before, behind] = this.#parts()
    switch (to) {
      case 'left':
        return before.length - (graphemesOf(before.slice(-LONGEST_GRAPHEME)).at(-1)?.length ?? 0)
      case 'right':
        return before.length + (graphemesOf(behind.slice(0, LONGEST_GRAPHEME))[0]?.length ?? 0)
      case 'word left':
        return wordStart(before)
      case 'word right':
        return before.length + (/^[^\p{L}\p{N}_]*[\p{L}\p{N}_]*/u.exec(behind)?.[0].length ?? 0)
      case 'line start':
        return before.lastIndexOf('\n') + 1
      case 'line end':
        return before.length + (/^[^\n]*/u.exec(behind)?.[0].length ?? 0)
    }
  }

  #parts(): readonly [string, string] {
    return [this.#text.slice(0, this.#cursor), this.#text.slice(this.#cursor)]
  }

  #did(edit: () => unknown): Pressed {
    edit()
    return 'changed'
  }
}

/** The most code units that the user sees as one character. */
const LONGEST_GRAPHEME = 64

const EDITS: ReadonlyMap<string, Edit> = new Map<string, Edit>([
  ...keys((editor) => editor.move('left'), 'left', 'ctrl-b'),
  ...keys((editor) => editor.move('right'), 'right', 'ctrl-f'),
  ...keys((editor) => editor.move('word left'), 'ctrl-left', 'alt-left', 'alt-b'),
  ...keys((editor) => editor.move('word right'), 'ctrl-right', 'alt-right', 'alt-f'),
  ...keys((editor) => editor.move('line start'), 'home', 'ctrl-a'),
  ...keys((editor) => editor.move('line end'), 'end', 'ctrl-e'),
  ...keys((editor) => editor.vertical(-1), 'up', 'ctrl-p'),
  ...keys((editor) => editor.vertical(1), 'down', 'ctrl-n'),
  ...keys((editor) => editor.remove('left', false), 'backspace', 'ctrl-h'),
  ...keys((editor) => editor.remove('right', false), 'delete', 'ctrl-d'),
  ...keys((editor) => editor.remove('word left', true), 'ctrl-w', 'alt-backspace', 'ctrl-backspace'),
  ...keys((editor) => editor.remove('word right', true), 'alt-d', 'alt-delete', 'ctrl-delete'),
  ...keys((editor) => editor.remove('line start', true), 'ctrl-u'),
  ...keys((editor) => editor.remove('line end', true), 'ctrl-k'),
  ...keys((editor) => editor.yank(), 'ctrl-y'),
  ...keys((editor) => editor.newLine(), 'ctrl-j'),
])

function keys(edit: Edit, ...names: readonly string[]): readonly (readonly [string, Edit])[] {
  return names.map((name) => [name, edit] as const)
}

/** By hand: a regular expression that ends at the end of a long text takes its time. */
function wordStart(text: string): number {
  const isWord = (at: number): boolean =>
    /[\p{L}\p{N}\p{M}_]/u.test(text.charAt(at)) || /[\ud800-\udfff]/.test(text.charAt(at))
  let at = text.length
  while (at > 0 && !isWord(at - 1)) at -= 1
  while (at > 0 && isWord(at - 1)) at -= 1
  return at
}

function lineStarts(text: string): readonly number[] {
  return [0, ...[...text.matchAll(/\n/gu)].map(({ index }) => index + 1)]
}

/** The place, or the one before it that is between two characters. */
function boundary(text: string, place: number): number {
  const start = text.lastIndexOf('\n', place - 1) + 1
  let at = start
  for (const grapheme of graphemesOf(text.slice(start, place + LONGEST_GRAPHEME))) {
    if (at + grapheme.length > place) return at
    at += grapheme.length
  }
  return at
}
