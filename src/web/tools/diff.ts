/** The rows of a diff: lines with their numbers, words within changed lines, and long stretches without a change folded. Pure. */
import { diffArrays, diffWordsWithSpace } from 'diff'

export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed'
  readonly before: number | undefined
  readonly after: number | undefined
  readonly parts: readonly Part[]
}

export interface Part {
  readonly text: string
  readonly isChanged: boolean
}

/** Lines that did not change and are not shown at first. */
export interface Gap {
  readonly kind: 'gap'
  readonly lines: readonly DiffLine[]
}

export interface Diff {
  readonly rows: readonly (DiffLine | Gap)[]
  readonly added: number
  readonly removed: number
}

/** Around a change. */
const CONTEXT = 3
/** Texts that differ in more than this are shown as one block out and one block in: finding more costs the square. */
const MAX_EDITS = 2_000
const MAX_MS = 60
const LONGEST_WORDS = 500
/** Of lines in a row; more are another text rather than changed lines. */
const MAX_PAIRS = 60

export function diffOf(before: string, after: string): Diff {
  const lines = changedLines(linesIn(before), linesIn(after))
  const added = lines.filter(({ kind }) => kind === 'added').length
  const removed = lines.filter(({ kind }) => kind === 'removed').length
  return { rows: folded(withWords(lines)), added, removed }
}

/** What was beside what is now: lines that went and came in one place stand side by side. */
export interface Pair {
  readonly kind: 'pair'
  readonly before: DiffLine | undefined
  readonly after: DiffLine | undefined
}

export function sideBySide(rows: Diff['rows']): readonly (Pair | Gap)[] {
  const pairs: (Pair | Gap)[] = []
  for (let at = 0; at < rows.length;) {
    const row = rows[at]
    if (row === undefined || row.kind === 'gap') {
      if (row !== undefined) pairs.push(row)
      at += 1
    } else if (row.kind === 'same') {
      pairs.push({ kind: 'pair', before: row, after: row })
      at += 1
    } else {
      const removed = linesFrom(rows, at, 'removed')
      const added = linesFrom(rows, at + removed.length, 'added')
      for (let index = 0; index < Math.max(removed.length, added.length); index += 1)
        pairs.push({ kind: 'pair', before: removed[index], after: added[index] })
      at += removed.length + added.length
    }
  }
  return pairs
}

function linesFrom(rows: Diff['rows'], from: number, kind: DiffLine['kind']): readonly DiffLine[] {
  const lines: DiffLine[] = []
  for (let row = rows[from]; row?.kind === kind; row = rows[from + lines.length]) lines.push(row)
  return lines
}

/** CRLF and LF are one: what only ends its lines differently has not changed for a reader. */
function linesIn(text: string): readonly string[] {
  if (text === '') return []
  const lines = text.split(/\r?\n/u)
  if (lines.at(-1) === '') lines.pop()
  return lines
}

function changedLines(before: readonly string[], after: readonly string[]): readonly DiffLine[] {
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1
  let end = 0
  const most = Math.min(before.length, after.length) - start
  while (end < most && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1
  const counter = new Numbering()
  return [
    ...counter.rows('same', before.slice(0, start)),
    ...middle(before.slice(start, before.length - end), after.slice(start, after.length - end), counter),
    ...counter.rows('same', before.slice(before.length - end)),
  ]
}

function middle(before: readonly string[], after: readonly string[], counter: Numbering): readonly DiffLine[] {
  const changes =
    before.length === 0 || after.length === 0
      ? undefined
      : diffArrays([...before], [...after], { maxEditLength: MAX_EDITS, timeout: MAX_MS })
  if (changes === undefined) return [...counter.rows('removed', before), ...counter.rows('added', after)]
  return changes.flatMap(({ value, added, removed }) =>
    counter.rows(added ? 'added' : removed ? 'removed' : 'same', value),
  )
}

class Numbering {
  #before = 0
  #after = 0

  rows(kind: DiffLine['kind'], lines: readonly string[]): readonly DiffLine[] {
    return lines.map((text) => {
      if (kind !== 'added') this.#before += 1
      if (kind !== 'removed') this.#after += 1
      const numbers = {
        before: kind === 'added' ? undefined : this.#before,
        after: kind === 'removed' ? undefined : this.#after,
      }
      return { kind, ...numbers, parts: [{ text, isChanged: false }] }
    })
  }
}

/** What came is compared by its words with what went, in order, as the two stand side by side. */
function withWords(lines: readonly DiffLine[]): readonly DiffLine[] {
  const out = [...lines]
  for (let at = 0; at < out.length; at += 1) {
    const removed = runFrom(out, at, 'removed')
    const added = runFrom(out, at + removed, 'added')
    const pairs = Math.min(removed, added)
    if (pairs <= MAX_PAIRS) for (let pair = 0; pair < pairs; pair += 1) comparePair(out, at + pair, at + removed + pair)
    at += Math.max(0, removed + added - 1)
  }
  return out
}

function runFrom(lines: readonly DiffLine[], from: number, kind: DiffLine['kind']): number {
  let count = 0
  while (lines[from + count]?.kind === kind) count += 1
  return count
}

function comparePair(lines: DiffLine[], removed: number, added: number): void {
  const [old, now] = [lines[removed], lines[added]]
  const [oldText = '', newText = ''] = [old?.parts[0]?.text, now?.parts[0]?.text]
  if (old === undefined || now === undefined || oldText.length + newText.length > LONGEST_WORDS) return
  const words = diffWordsWithSpace(oldText, newText)
  const kept = words.filter((word) => !word.added && !word.removed).reduce((sum, { value }) => sum + value.length, 0)
  // Two lines with little in common are two lines, not one that changed.
  if (kept * 3 < Math.max(oldText.length, newText.length)) return
  const side = (mine: 'added' | 'removed', other: 'added' | 'removed'): readonly Part[] =>
    words.filter((word) => !word[other]).map((word) => ({ text: word.value, isChanged: word[mine] }))
  lines[removed] = { ...old, parts: side('removed', 'added') }
  lines[added] = { ...now, parts: side('added', 'removed') }
}

function folded(lines: readonly DiffLine[]): readonly (DiffLine | Gap)[] {
  const near = new Uint8Array(lines.length)
  for (const [index, { kind }] of lines.entries())
    if (kind !== 'same') near.fill(1, Math.max(0, index - CONTEXT), index + CONTEXT + 1)
  const rows: (DiffLine | Gap)[] = []
  for (let at = 0; at < lines.length;) {
    const end = near[at] === 1 ? at + 1 : endOfGap(near, at)
    const part = lines.slice(at, end)
    // A gap of one or two lines hides less than it says.
    if (near[at] === 1 || part.length < 3) rows.push(...part)
    else rows.push({ kind: 'gap', lines: part })
    at = end
  }
  return rows
}

function endOfGap(near: Uint8Array, from: number): number {
  const next = near.indexOf(1, from)
  return next === -1 ? near.length : next
}
