/** Renders a change of a file: the removed lines, the added lines, and one line around them. */
import type { ToolCallContent } from '../../../client/incoming/updates.ts'

export interface ChangedLine {
  readonly mark: ' ' | '-' | '+'
  readonly text: string
}

/** The most lines on each side that are compared. Beyond it, all old lines count as removed and all new ones as added. */
const COMPARED = 500

export function linesChanged({ oldText, newText }: ToolCallContent): readonly ChangedLine[] {
  const [before, after] = [linesIn(oldText ?? ''), linesIn(newText ?? '')]
  const start = countSame(before, after, (lines, index) => lines[index])
  const rest = [before.slice(start), after.slice(start)] as const
  const end = countSame(...rest, (lines, index) => lines.at(-1 - index))
  const [old, fresh] = rest.map((lines) => lines.slice(0, lines.length - end))
  const kept = (lines: readonly string[]) => lines.map((text) => ({ mark: ' ', text }) as const)
  return [
    ...kept(before.slice(0, start)),
    ...compared(old ?? [], fresh ?? []),
    ...kept(before.slice(before.length - end)),
  ]
}

/** The changed lines, each with at most one unchanged line before and after it. */
export function linesShown(content: ToolCallContent): readonly ChangedLine[] {
  const lines = linesChanged(content)
  const isNear = (index: number) => [-1, 0, 1].some((step) => (lines[index + step]?.mark ?? ' ') !== ' ')
  return lines.filter((_line, index) => isNear(index))
}

function linesIn(text: string): readonly string[] {
  return text === '' ? [] : text.replace(/\n$/u, '').split('\n')
}

function countSame(
  before: readonly string[],
  after: readonly string[],
  at: (lines: readonly string[], index: number) => string | undefined,
): number {
  const most = Math.min(before.length, after.length)
  let count = 0
  while (count < most && at(before, count) === at(after, count)) count += 1
  return count
}

function compared(before: readonly string[], after: readonly string[]): readonly ChangedLine[] {
  const goes = (text: string) => ({ mark: '-', text }) as const
  const comes = (text: string) => ({ mark: '+', text }) as const
  if (before.length > COMPARED || after.length > COMPARED) return [...before.map(goes), ...after.map(comes)]
  const common = lengthsInCommon(before, after)
  const lines: ChangedLine[] = []
  let [old, fresh] = [0, 0]
  for (;;) {
    const [gone, come] = [before[old], after[fresh]]
    if (gone === undefined) return [...lines, ...after.slice(fresh).map(comes)]
    if (gone === come) {
      lines.push({ mark: ' ', text: gone })
      old += 1
      fresh += 1
    } else if (come === undefined || (common[old + 1]?.[fresh] ?? 0) >= (common[old]?.[fresh + 1] ?? 0)) {
      lines.push(goes(gone))
      old += 1
    } else {
      lines.push(comes(come))
      fresh += 1
    }
  }
}

/** How many lines both have in common, in this order, from each pair of places on. */
function lengthsInCommon(before: readonly string[], after: readonly string[]): readonly (readonly number[])[] {
  const rows: number[][] = [Array.from({ length: after.length + 1 }, () => 0)]
  for (const gone of before.toReversed()) {
    const below = rows[0] ?? []
    const row = [0]
    for (const [at, come] of [...after.entries()].toReversed())
      row.unshift(gone === come ? (below[at + 1] ?? 0) + 1 : Math.max(below[at] ?? 0, row[0] ?? 0))
    rows.unshift(row)
  }
  return rows
}
