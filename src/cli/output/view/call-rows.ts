/** A tool call with what came of it: the last lines of its output or the lines that it changed, and all of them on demand. */
import type { ToolCallUpdate } from '../../../client/incoming/updates.ts'
import { clean, oneLine, widthOf } from '../terminal/text.ts'
import { wrapSpans } from '../terminal/wrap.ts'
import { type DetailLine, type Look, contentLines, detailsOf, isOver, toolRow } from './rows.ts'

/** Lines below a call: of its output; of a running call; and of a change. */
const LAST_LINES = 5
const RUNNING_LINES = 4
const CHANGED_LINES = 16
/** Lines and characters of a call that are printed on demand. */
const MOST_LINES = 2_000
const LONGEST_LINE = 4_000

const LEAD = '  │ '

export interface CallMarks {
  /** The number by which the user asks for the whole call. */
  readonly number: number
  /** Turns while it runs. */
  readonly wheel?: string | undefined
}

export function callRows(call: ToolCallUpdate, look: Look, { number, wheel }: CallMarks): readonly string[] {
  const lines = detailLines(call)
  const shown = shownOf(call, lines)
  const left = lines.length - shown.length
  const more = shown.length === 0 && isOver(call) && left > 1 ? ` · ${left} lines, /expand ${number}` : ''
  const row = [kindWords(call), more].reduce(
    (sum, words) => withWords(sum, words, look),
    toolRow(brief(call, shown), look, wheel),
  )
  if (shown.length === 0) return [row]
  const hint = left > 0 ? [look.paint('dim', `${LEAD}… ${left} more lines: Ctrl-O or /expand ${number}`)] : []
  const rows = shown.map((line) => foldedRow(line, look))
  return isChange(call) ? [row, ...rows, ...hint] : [row, ...hint, ...rows]
}

/** The whole call, as far as it is readable. */
export function wholeCallRows(call: ToolCallUpdate, look: Look): readonly string[] {
  const input = detailsOf({ ...call, content: [] })
  const lines = [...input, ...detailLines(call)]
  const rows = lines.slice(0, MOST_LINES).flatMap((line) => wrappedRows(line, look))
  const left = lines.length - MOST_LINES
  const cut = left > 0 ? [look.paint('dim', `${LEAD}… ${left} more lines: parley show prints the session`)] : []
  const none = lines.length === 0 ? [look.paint('dim', `${LEAD}(nothing)`)] : []
  return [toolRow(call, look), ...rows, ...cut, ...none]
}

/** Whether there is more of it than its rows show. */
export function isFolded(call: ToolCallUpdate, look: Look): boolean {
  const lines = detailLines(call)
  const room = look.width() - LEAD.length
  return shownOf(call, lines).length < lines.length || lines.some(({ text }) => widthOf(clean(text)) > room)
}

function detailLines({ content, rawOutput }: ToolCallUpdate): readonly DetailLine[] {
  const lines = contentLines(content ?? [])
  const isEmpty = lines.every(({ text }) => text.trim() === '')
  if (!isEmpty) return lines
  if (rawOutput === undefined || rawOutput === null) return []
  const text = typeof rawOutput === 'string' ? rawOutput : JSON.stringify(rawOutput, null, 2)
  return text.split('\n').map((line) => ({ style: 'dim', text: line }))
}

function shownOf(call: ToolCallUpdate, lines: readonly DetailLine[]): readonly DetailLine[] {
  if (isChange(call)) return lines.slice(0, CHANGED_LINES)
  if (call.status === 'failed') return isOneLine(lines) ? [] : lines.slice(-LAST_LINES)
  if (call.kind !== 'execute') return []
  return lines.slice(isOver(call) ? -LAST_LINES : -RUNNING_LINES)
}

function isChange({ content }: ToolCallUpdate): boolean {
  return (content ?? []).some(({ type }) => type === 'diff')
}

/** The row of the call has it, as far as it fits. */
function isOneLine(lines: readonly DetailLine[]): boolean {
  return lines.length === 1
}

/** Why it failed stands in its row, unless it stands below. */
function brief(call: ToolCallUpdate, shown: readonly DetailLine[]): ToolCallUpdate {
  return call.status === 'failed' && shown.length > 0 ? { ...call, content: [] } : call
}

/** Names the kind of the call where its title may not. */
function kindWords({ kind, status }: ToolCallUpdate): string {
  if (kind === undefined || kind === null || kind === 'other' || status === 'failed') return ''
  return ` · ${oneLine(kind, 12)}`
}

/** With these words behind it, where there is room for them. */
function withWords(row: string, words: string, { paint, width }: Look): string {
  return widthOf(row) + widthOf(words) > width() ? row : row + paint('dim', words)
}

function foldedRow({ style, text }: DetailLine, { paint, width }: Look): string {
  const fit = clean(text).replaceAll('\t', '  ').slice(0, LONGEST_LINE)
  const room = width() - LEAD.length
  const shown = widthOf(fit) <= room ? fit : oneLine(fit, room)
  return paint('dim', LEAD) + paint(style, shown)
}

function wrappedRows({ style, text }: DetailLine, { paint, width }: Look): readonly string[] {
  const span = { style, text: clean(text).replaceAll('\t', '  ').slice(0, LONGEST_LINE), at: 0 } as const
  const lead = paint('dim', LEAD)
  return wrapSpans([span], { width: width() - LEAD.length, first: '', rest: '', paint }).map(
    ({ text: row }) => lead + row,
  )
}
