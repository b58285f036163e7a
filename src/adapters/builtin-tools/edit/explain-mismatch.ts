/** What is nearly there when a text to be replaced is not: the sentence that spares the next wrong attempt. */
import { linesOf } from '../text/pages.ts'

interface Missed {
  readonly old_text: string
  readonly new_text: string
}

export function explainMismatch(text: string, { old_text, new_text }: Missed): string {
  const lines = linesOf(text)
  const wanted = linesOf(old_text)
  return (
    butForWhitespace(lines, wanted) ??
    butForWhatFollows(lines, wanted) ??
    doneBefore(text, new_text) ??
    'old_text is not in the file. Read the file again and quote it exactly.'
  )
}

/** Lines to compare; who has more of them does without advice. */
const PATIENCE = 5_000_000

function butForWhitespace(lines: readonly string[], wanted: readonly string[]): string | undefined {
  if (lines.length * wanted.length > PATIENCE) return undefined
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
