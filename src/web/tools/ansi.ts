/** Output of a terminal as runs of coloured text: colours, and a carriage return that writes over its line. All else is left out. Pure. */

export interface Run {
  readonly text: string
  /** Names of classes, such as `fg-1 bold`; empty for plain text. */
  readonly style: string
}

interface Style {
  readonly fg: string
  readonly bg: string
  readonly marks: ReadonlySet<string>
}

const PLAIN: Style = { fg: '', bg: '', marks: new Set() }

// oxlint-disable no-control-regex -- they are what this reads and leaves out
// Colours and other commands, titles and links that end by a bell or by a string terminator, and single escapes.
const ESCAPE =
  /\u001b(?:\[([0-?]*)[ -/]*([@-~])?|[\]PX^_](?:[^\u0007\u001b]|\u001b(?!\\)){0,4096}(?:\u0007|\u001b\\)?|[ -/]*[0-~]?)|\u009b([0-?]*)[ -/]*([@-~])?/gu

/** Control characters besides tab; backspace too, for a spinner leaves nothing behind but its last state. */
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001a\u001c-\u001f\u007f-\u009f]/gu

// oxlint-enable no-control-regex

/** The lines of the output, each as its runs. */
export function linesOf(output: string): readonly (readonly Run[])[] {
  let style = PLAIN
  return output
    .replaceAll('\r\n', '\n')
    .split('\n')
    .map((line) => {
      const [shown, after] = lineOf(line, style)
      style = after
      return shown
    })
}

/** Without colours, to be copied. */
export function plainText(output: string): string {
  return linesOf(output)
    .map((runs) => runs.map(({ text }) => text).join(''))
    .join('\n')
}

function lineOf(line: string, before: Style): readonly [readonly Run[], Style] {
  let style = before
  let shown: readonly Run[] = []
  for (const [index, part] of line.split('\r').entries()) {
    const [runs, after] = runsOf(part, style)
    style = after
    // What is written after a carriage return stands on what was there; what is longer stays.
    if (index === 0) shown = runs
    else if (runs.length > 0) shown = [...runs, ...restAfter(shown, lengthOf(runs))]
  }
  return [shown, style]
}

function lengthOf(runs: readonly Run[]): number {
  return runs.reduce((sum, { text }) => sum + text.length, 0)
}

function restAfter(runs: readonly Run[], length: number): readonly Run[] {
  let left = length
  return runs.flatMap((run) => {
    const text = run.text.slice(left)
    left = Math.max(0, left - run.text.length)
    return text === '' ? [] : [{ ...run, text }]
  })
}

function runsOf(line: string, before: Style): readonly [readonly Run[], Style] {
  let style = before
  let end = 0
  const runs: Run[] = []
  const add = (text: string): void => {
    const clean = text.replace(CONTROL, '')
    if (clean !== '') runs.push({ text: clean, style: nameOf(style) })
  }
  for (const match of line.matchAll(ESCAPE)) {
    add(line.slice(end, match.index))
    end = match.index + match[0].length
    if ((match[2] ?? match[4]) === 'm') style = styleAfter(style, match[1] ?? match[3] ?? '')
  }
  add(line.slice(end))
  return [runs, style]
}

const MARKS: Readonly<Record<number, string>> = {
  1: 'bold',
  2: 'dim',
  3: 'italic',
  4: 'underline',
  7: 'inverse',
  9: 'struck',
}
const ENDS: Readonly<Record<number, readonly string[]>> = {
  22: ['bold', 'dim'],
  23: ['italic'],
  24: ['underline'],
  27: ['inverse'],
  29: ['struck'],
}

function styleAfter(before: Style, parameters: string): Style {
  const codes = parameters.split(/[;:]/u, 64).map(Number)
  let style = before
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] ?? 0
    if (code === 38 || code === 48) {
      const [colour, used] = extended(codes.slice(at + 1))
      style = code === 38 ? { ...style, fg: colour } : { ...style, bg: colour }
      at += used
    } else style = withCode(style, code)
  }
  return style
}

function withCode(style: Style, code: number): Style {
  const { marks } = style
  const mark = MARKS[code]
  const ended = ENDS[code]
  if (code === 0) return PLAIN
  if (mark !== undefined) return { ...style, marks: new Set([...marks, mark]) }
  if (ended !== undefined) return { ...style, marks: new Set([...marks].filter((one) => !ended.includes(one))) }
  if (code === 39) return { ...style, fg: '' }
  if (code === 49) return { ...style, bg: '' }
  if (code >= 30 && code <= 37) return { ...style, fg: String(code - 30) }
  if (code >= 90 && code <= 97) return { ...style, fg: String(code - 90 + 8) }
  if (code >= 40 && code <= 47) return { ...style, bg: String(code - 40) }
  return code >= 100 && code <= 107 ? { ...style, bg: String(code - 100 + 8) } : style
}

/** Of 256 and of 16 million colours, the nearest of the sixteen that have enough contrast in both schemes. */
function extended(codes: readonly number[]): readonly [string, number] {
  const [kind, first = 0, green = 0, blue = 0] = codes
  if (kind === 5) return [nearest(first), 2]
  return kind === 2 ? [ofRgb(first, green, blue), 4] : ['', codes.length]
}

function nearest(index: number): string {
  if (index < 16) return String(index)
  if (index >= 232) return index < 244 ? '8' : '7'
  const cube = index - 16
  const level = (value: number): number => (value === 0 ? 0 : 55 + value * 40)
  return ofRgb(level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6))
}

function ofRgb(red: number, green: number, blue: number): string {
  const top = Math.max(red, green, blue)
  if (top < 48) return '0'
  const bits = [red, green, blue].reduce((sum, value, bit) => sum + (value > top * 0.6 ? 1 << bit : 0), 0)
  return String(bits + (top > 170 ? 8 : 0))
}

function nameOf({ fg, bg, marks }: Style): string {
  return [fg === '' ? '' : `fg-${fg}`, bg === '' ? '' : `bg-${bg}`, ...marks].filter((one) => one !== '').join(' ')
}
