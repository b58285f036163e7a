/** Exact replacements in a text: all of them or none, and good advice where one does not fit. */
import { failTool } from '../toolset/tool-failure.ts'
import { formatCount } from '../../../text/shorten.ts'
import { textLines } from '../files/pages.ts'

export interface Edit {
  readonly old_text: string
  readonly new_text: string
  readonly replace_all?: boolean | undefined
}

export interface Edited {
  readonly text: string
  /** How many places were changed. */
  readonly places: number
}

/** Applies the edits in order, each to the result of the ones before. All other text stays the same, byte for byte. */
export function applyEdits(text: string, edits: readonly Edit[]): Edited {
  const eol = onlyCrLf(text) ? '\r\n' : '\n'
  const whole: Edited = { text: eol === '\n' ? text : withLf(text), places: 0 }
  const edited = edits.reduce((former, edit, index) => {
    const name = edits.length === 1 ? '' : `Edit ${index + 1} of ${edits.length}: `
    const done = applyEdit(former.text, eol === '\n' ? edit : withLfEdit(edit), name)
    return { text: done.text, places: former.places + done.places }
  }, whole)
  if (edited.text === whole.text) failTool('The edits undo each other. Nothing was changed.')
  return eol === '\n' ? edited : { ...edited, text: edited.text.replaceAll('\n', '\r\n') }
}

/** Whether every line ends with CR LF. */
export function onlyCrLf(text: string): boolean {
  return text.includes('\r\n') && !/(?:^|[^\r])\n/u.test(text) && !/\r(?!\n)/u.test(text)
}

function withLf(text: string): string {
  return text.replaceAll('\r\n', '\n')
}

function withLfEdit({ old_text, new_text, replace_all }: Edit): Edit {
  return { old_text: withLf(old_text), new_text: withLf(new_text), replace_all }
}

function applyEdit(text: string, given: Edit, name: string): Edited {
  if (given.old_text === '') failTool(`${name}old_text is empty. Quote what is to be replaced, or use write_file.`)
  if (given.old_text === given.new_text) failTool(`${name}old_text and new_text are the same. Nothing was changed.`)
  const { old_text, new_text, replace_all = false } = withLineEndsOf(text, given)
  const places = occurrencesOf(old_text, text)
  if (places.length === 0) failTool(`${name}${explainMismatch(text, given)} Nothing was changed.`)
  if (!replace_all) requireUnique(old_text, text, { places, name })
  return { text: text.split(old_text).join(new_text), places: places.length }
}

interface Occurrences {
  readonly places: readonly number[]
  readonly name: string
}

/** Also when it begins again before it has ended, as a brace on every line does. */
function requireUnique(part: string, text: string, { places, name }: Occurrences): void {
  const again = places.length === 1 ? text.indexOf(part, (places[0] ?? 0) + 1) : -1
  const all = again < 0 ? places : [...places, again]
  if (all.length > 1)
    failTool(
      `${name}old_text occurs ${formatCount(all.length)} times (lines ${linesAt(text, all)}). Quote more of what stands around it, or set replace_all. Nothing was changed.`,
    )
}

/** Where ends of lines are mixed, those of the place that is meant. */
function withLineEndsOf(text: string, edit: Edit): Edit {
  if (!text.includes('\r\n')) return edit
  const at = text.indexOf(edit.old_text)
  if (at < 0) return { ...edit, old_text: withCrLf(edit.old_text), new_text: withCrLf(edit.new_text) }
  // Text within one line says nothing about line ends.
  const isWithin = !/[\r\n]/u.test(edit.old_text)
  return isWithin && endsWithCrLf(text, at) ? { ...edit, new_text: withCrLf(edit.new_text) } : edit
}

function withCrLf(text: string): string {
  return withLf(text).replaceAll('\n', '\r\n')
}

/** The line of that place; the last one is as the one before. */
function endsWithCrLf(text: string, at: number): boolean {
  const next = text.indexOf('\n', at)
  return text.charAt((next < 0 ? text.lastIndexOf('\n', at) : next) - 1) === '\r'
}

function occurrencesOf(part: string, text: string): readonly number[] {
  const places: number[] = []
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) places.push(at)
  return places
}

const LINES_NAMED = 5

function linesAt(text: string, places: readonly number[]): string {
  const lines = places.slice(0, LINES_NAMED).map((at) => text.slice(0, at).split('\n').length)
  return `${lines.join(', ')}${places.length > LINES_NAMED ? ' …' : ''}`
}

interface Missed {
  readonly old_text: string
  readonly new_text: string
}

export function explainMismatch(text: string, { old_text, new_text }: Missed): string {
  const lines = textLines(text)
  const wanted = textLines(old_text)
  return (
    butForWhitespace(lines, wanted) ??
    butForWhatFollows(lines, wanted) ??
    doneBefore(text, new_text) ??
    'old_text is not in the file. Read the file again and quote it exactly.'
  )
}

/** The most line comparisons; a larger file gets no advice on a failed edit. */
const MAX_COMPARISONS = 5_000_000

function butForWhitespace(lines: readonly string[], wanted: readonly string[]): string | undefined {
  if (lines.length * wanted.length > MAX_COMPARISONS) return undefined
  const bare = wanted.map(squeezed)
  const there = lines.map(squeezed)
  const at = there.findIndex((_, start) => bare.every((line, index) => (there[start + index] ?? '') === line))
  if (at < 0 || bare.every((line) => line === '')) return undefined
  const differs = wanted.findIndex((line, index) => line !== lines[at + index])
  const line = at + Math.max(differs, 0)
  return `old_text differs from the file only in whitespace, first in line ${line + 1}, which is ${quoted(lines[line])}.`
}

function butForWhatFollows(lines: readonly string[], wanted: readonly string[]): string | undefined {
  const first = wanted.findIndex((line) => line.trim().length > 3)
  const at = lines.findIndex((line) => line.trim() === wanted[first]?.trim())
  if (first < 0 || at < 0) return undefined
  const same = wanted.slice(first).findIndex((line, index) => line.trim() !== lines[at + index]?.trim())
  if (same < 0) return undefined
  return `old_text begins like line ${at + 1} of the file, but line ${at + same + 1} is ${quoted(lines[at + same])} there and ${quoted(wanted[first + same])} in old_text.`
}

function doneBefore(text: string, wanted: string): string | undefined {
  if (wanted.trim().length < 3 || !text.includes(wanted)) return undefined
  const line = text.slice(0, text.indexOf(wanted)).split('\n').length
  return `old_text is not in the file, but new_text is, in line ${line}: was it done before?`
}

function squeezed(line: string): string {
  return line.replaceAll(/\s+/gu, '')
}

function quoted(line: string | undefined): string {
  return line === undefined ? 'past the end' : JSON.stringify(line.slice(0, 120))
}
