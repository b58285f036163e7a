/** Exact replacements in a text: all of them or none, and good advice where one does not fit. */
import { amount, refuse } from '../toolset/result.ts'
import { explainMismatch } from './explain-mismatch.ts'

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

/** One after the other, each on what the ones before have made. What they do not name stays as it is, byte for byte. */
export function applyEdits(text: string, edits: readonly Edit[]): Edited {
  const eol = onlyCrLf(text) ? '\r\n' : '\n'
  const whole: Edited = { text: eol === '\n' ? text : withLf(text), places: 0 }
  const edited = edits.reduce((former, edit, index) => {
    const name = edits.length === 1 ? '' : `Edit ${index + 1} of ${edits.length}: `
    const done = applyEdit(former.text, eol === '\n' ? edit : unified(edit), name)
    return { text: done.text, places: former.places + done.places }
  }, whole)
  if (edited.text === whole.text) refuse('The edits undo each other. Nothing was changed.')
  return eol === '\n' ? edited : { ...edited, text: edited.text.replaceAll('\n', '\r\n') }
}

/** Whether every line ends with CR LF. */
export function onlyCrLf(text: string): boolean {
  return text.includes('\r\n') && !/(?:^|[^\r])\n/u.test(text) && !/\r(?!\n)/u.test(text)
}

function withLf(text: string): string {
  return text.replaceAll('\r\n', '\n')
}

function unified({ old_text, new_text, replace_all }: Edit): Edit {
  return { old_text: withLf(old_text), new_text: withLf(new_text), replace_all }
}

function applyEdit(text: string, given: Edit, name: string): Edited {
  if (given.old_text === '') refuse(`${name}old_text is empty. Quote what is to be replaced, or use write_file.`)
  if (given.old_text === given.new_text) refuse(`${name}old_text and new_text are the same. Nothing was changed.`)
  const { old_text, new_text, replace_all = false } = asWritten(text, given)
  const places = placesOf(old_text, text)
  if (places.length === 0) refuse(`${name}${explainMismatch(text, given)} Nothing was changed.`)
  if (!replace_all) requireOne(old_text, text, { places, name })
  return { text: text.split(old_text).join(new_text), places: places.length }
}

interface Occurring {
  readonly places: readonly number[]
  readonly name: string
}

/** Also when it begins again before it has ended, as a brace on every line does. */
function requireOne(part: string, text: string, { places, name }: Occurring): void {
  const again = places.length === 1 ? text.indexOf(part, (places[0] ?? 0) + 1) : -1
  const all = again < 0 ? places : [...places, again]
  if (all.length > 1)
    refuse(
      `${name}old_text occurs ${amount(all.length)} times (lines ${linesAt(text, all)}). Quote more of what stands around it, or set replace_all. Nothing was changed.`,
    )
}

/** Where ends of lines are mixed, those of the place that is meant. */
function asWritten(text: string, edit: Edit): Edit {
  if (!text.includes('\r\n')) return edit
  const at = text.indexOf(edit.old_text)
  if (at < 0) return { ...edit, old_text: withCrLf(edit.old_text), new_text: withCrLf(edit.new_text) }
  // What is within one line says nothing of its end.
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

function placesOf(part: string, text: string): readonly number[] {
  const places: number[] = []
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) places.push(at)
  return places
}

const LINES_NAMED = 5

function linesAt(text: string, places: readonly number[]): string {
  const lines = places.slice(0, LINES_NAMED).map((at) => text.slice(0, at).split('\n').length)
  return `${lines.join(', ')}${places.length > LINES_NAMED ? ' …' : ''}`
}
