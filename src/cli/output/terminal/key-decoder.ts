/** Decodes a terminal's input into keys: escape sequences of xterm, rxvt and kitty, and pasted text. */
import { clean, graphemesOf } from './text.ts'

export interface Key {
  /** The typed or pasted text; empty for keys that type nothing. */
  readonly text: string
  /** `return`, `up`, `a` …; `paste` for text that was pasted at once. */
  readonly name: string
  readonly ctrl: boolean
  readonly alt?: boolean
  readonly shift?: boolean
}

/* oxlint-disable no-control-regex -- control characters are what this file is about */

const PASTE_END = '\u001b[201~'
/** Parameters and the letter at the end. */
const CSI = /\u001b\[([<=>?\d;:]*)[ -/]*([@-~])/uy
const SS3 = /\u001bO([ -~])/uy
/** Matches the possible beginning of an escape sequence. */
const UNFINISHED = /^\u001b(?:\[[<=>?\d;:]*[ -/]*|O)?$/u
const TEXT = /[^\u0000-\u001f\u007f]+/uy

const LETTERS: Readonly<Record<string, string>> = {
  A: 'up',
  B: 'down',
  C: 'right',
  D: 'left',
  H: 'home',
  F: 'end',
  M: 'return',
  Z: 'tab',
}

const NUMBERS: Readonly<Record<string, string>> = {
  1: 'home',
  2: 'insert',
  3: 'delete',
  4: 'end',
  5: 'pageup',
  6: 'pagedown',
  7: 'home',
  8: 'end',
}

const CODES: Readonly<Record<number, string>> = {
  8: 'backspace',
  9: 'tab',
  13: 'return',
  27: 'escape',
  127: 'backspace',
}

/** Bytes come in pieces. An incomplete sequence is held until more bytes come or `flush` is called. */
export class KeyDecoder {
  #held = ''
  /** The pasted text so far; undefined outside a paste. */
  #pasted: string | undefined

  /** Whether the input ends with a lone Esc or an incomplete sequence. `flush` then decides that nothing more comes. */
  get isWaiting(): boolean {
    return this.#held !== '' && this.#pasted === undefined
  }

  push(input: string): readonly Key[] {
    let rest = this.#held + input
    this.#held = ''
    const keys: Key[] = []
    while (rest !== '') {
      const taken = this.#pasted === undefined ? this.#key(rest, keys) : this.#paste(rest, keys)
      if (taken === 0) {
        this.#held = rest
        break
      }
      rest = rest.slice(taken)
    }
    return keys
  }

  flush(): readonly Key[] {
    if (!this.isWaiting) return []
    const isEscape = this.#held === '\u001b'
    this.#held = ''
    return isEscape ? [namedKey('escape')] : []
  }

  /** How many characters the next key took; 0 when its end has not come. */
  #key(input: string, keys: Key[]): number {
    if (!input.startsWith('\u001b')) return plainKey(input, keys)
    const csi = matchAt(CSI, input)
    if (csi !== undefined) {
      const [whole, parameters = '', final = ''] = csi
      if (final === '~' && parameters === '200') this.#pasted = ''
      else keys.push(...csiKeys(parameters, final))
      return whole.length
    }
    if (UNFINISHED.test(input)) return 0
    const ss3 = matchAt(SS3, input)
    if (ss3 !== undefined) {
      keys.push(...csiKeys('', ss3[1] ?? ''))
      return ss3[0].length
    }
    return altKey(input, keys)
  }

  #paste(input: string, keys: Key[]): number {
    const end = input.indexOf(PASTE_END)
    if (end < 0) {
      // The beginning of its end may stand at the end.
      const kept = input.lastIndexOf('\u001b', input.length - 1)
      const taken = kept >= 0 && PASTE_END.startsWith(input.slice(kept)) ? kept : input.length
      this.#pasted += input.slice(0, taken)
      return taken
    }
    const text = clean(this.#pasted + input.slice(0, end))
    this.#pasted = undefined
    if (text !== '') keys.push({ text, name: 'paste', ctrl: false })
    return end + PASTE_END.length
  }
}

function namedKey(name: string, modifiers: Partial<Key> = {}): Key {
  return { text: '', name, ctrl: false, ...modifiers }
}

function plainKey(input: string, keys: Key[]): number {
  const text = matchAt(TEXT, input)?.[0]
  if (text === undefined) {
    keys.push(...controlKeys(input.charCodeAt(0)))
    return 1
  }
  const typed = graphemesOf(clean(text))
  keys.push(...typed.map((grapheme) => ({ text: grapheme, name: grapheme.toLowerCase(), ctrl: false })))
  return text.length
}

/** Enter and Ctrl-J differ: the one sends, the other begins a new line. */
function controlKeys(code: number): readonly Key[] {
  if (code === 0) return []
  const known = code === 10 ? undefined : CODES[code]
  if (known !== undefined) return [namedKey(known)]
  return code <= 26 ? [namedKey(String.fromCharCode(code + 96), { ctrl: true })] : []
}

/** Esc before a key is Alt with it; Esc twice is Esc. */
function altKey(input: string, keys: Key[]): number {
  const [char = ''] = input.slice(1)
  const under: Key[] = []
  if (char === '\u001b') {
    keys.push(namedKey('escape'))
    return 1
  }
  plainKey(char, under)
  keys.push(...under.map(({ name, ctrl }) => namedKey(name, { ctrl, alt: true })))
  return 1 + char.length
}

function csiKeys(parameters: string, final: string): readonly Key[] {
  const [first = '', second = '', third = ''] = parameters.split(';').map((part) => part.replace(/:.*$/su, ''))
  const modifiers = modifiersOf(second)
  if (final === 'u') return codeKeys(Number(first), modifiers)
  if (final === '~' && first === '27') return codeKeys(Number(third), modifiers)
  const name = final === '~' ? NUMBERS[first] : LETTERS[final]
  if (name === undefined) return []
  return [namedKey(name, final === 'Z' ? { ...modifiers, shift: true } : modifiers)]
}

function modifiersOf(parameter: string): Pick<Key, 'ctrl' | 'alt' | 'shift'> {
  const bits = Math.max(0, (Number.parseInt(parameter, 10) || 1) - 1)
  return { ctrl: (bits & 4) !== 0, alt: (bits & 2) !== 0, shift: (bits & 1) !== 0 }
}

/** A key by the number of its character; those of private use are keys that we do not know. */
function codeKeys(code: number, modifiers: Pick<Key, 'ctrl' | 'alt' | 'shift'>): readonly Key[] {
  const known = CODES[code]
  if (known !== undefined) return [namedKey(known, modifiers)]
  const isText = code >= 32 && code <= 0x10_ff_ff && !(code >= 0xd8_00 && code <= 0xf8_ff)
  if (!isText) return []
  const char = clean(String.fromCodePoint(code))
  const types = modifiers.ctrl || modifiers.alt ? '' : modifiers.shift ? char.toUpperCase() : char
  return [{ ...modifiers, text: types, name: char.toLowerCase() }]
}

function matchAt(pattern: RegExp, input: string): RegExpExecArray | undefined {
  pattern.lastIndex = 0
  return pattern.exec(input) ?? undefined
}
