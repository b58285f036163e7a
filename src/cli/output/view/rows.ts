/** Renders tool calls, plans and questions as rows of text. */
import type { PermissionQuestion } from '../../../client/incoming/permission-requests.ts'
import type { Content, PlanEntry, ToolCallContent, ToolCallUpdate } from '../../../client/incoming/updates.ts'
import type { Paint, Style } from '../terminal/colors.ts'
import { wrapSpans } from '../terminal/wrap.ts'
import { linesChanged, linesShown } from './difference.ts'
import { clean, oneLine, widthOf } from '../terminal/text.ts'

export interface Look {
  readonly paint: Paint
  readonly width: () => number
  /** How the user can see the rows that are left out, where that is possible. */
  readonly more?: string | undefined
}

/** Words of Parley itself among the thoughts. */
export function isNotice(content: unknown): boolean {
  const { _meta: meta } = content as { readonly _meta?: Readonly<Record<string, unknown>> | null }
  return meta?.['parley/notice'] === true
}

/** Content as text; content of other kinds is named. */
export function contentText(content: Content): string {
  switch (content.type) {
    case 'text':
      return content.text ?? ''
    case 'resource_link':
      return `[${content.title ?? content.name ?? 'link'}](${content.uri ?? ''})`
    case 'resource':
      return content.resource?.text ?? `[${content.resource?.uri ?? 'resource'}]`
    default:
      return `[${content.type}]`
  }
}

export function isOver({ status }: ToolCallUpdate): boolean {
  return status === 'completed' || status === 'failed'
}

/** One row; `wheel` turns while it runs. */
export function toolRow(call: ToolCallUpdate, { paint, width }: Look, wheel = '⚙'): string {
  const room = width() - 14
  const title = oneLine(call.title ?? call.toolCallId, Math.max(10, room))
  switch (call.status) {
    case 'completed':
      return `${paint('good', '✓')} ${title}${changeWords(call, paint)}`
    case 'failed':
      return failedRow(title, call, { paint, width })
    case 'cancelled':
      return `${paint('bad', '✗')} ${title} ${paint('dim', '… cancelled')}`
    case 'in_progress':
      return `${paint('asking', wheel)} ${title} ${paint('dim', '… running')}`
    default:
      return `${paint('dim', '⚙')} ${title} ${paint('dim', '… waiting')}`
  }
}

/** How much a change has changed: ` +2 −1`. */
function changeWords({ content }: ToolCallUpdate, paint: Paint): string {
  const lines = (content ?? []).flatMap((part) => (part.type === 'diff' ? linesChanged(part) : []))
  const count = (mark: string) => lines.filter((line) => line.mark === mark).length
  const [came, went] = [count('+'), count('-')]
  return came + went === 0 ? '' : paint('dim', ` +${came} −${went}`)
}

function failedRow(title: string, { content }: ToolCallUpdate, { paint, width }: Look): string {
  const said = (content ?? []).flatMap((part) => (part.content === undefined ? [] : [contentText(part.content)]))
  const room = width() - widthOf(title) - 6
  const reason = room > 12 ? oneLine(said.join(' '), room) : ''
  return `${paint('bad', '✗')} ${title}${reason === '' ? '' : paint('dim', ` — ${reason}`)}`
}

export function planRows(entries: readonly PlanEntry[], { paint, width }: Look): readonly string[] {
  return entries.map(({ content, status }) => {
    const text = oneLine(content, width() - 6)
    if (status === 'completed') return `  ${paint('good', '✓')} ${paint('dim', text)}`
    return status === 'in_progress'
      ? `  ${paint('asking', '▸')} ${paint('bold', text)}`
      : `  ${paint('dim', '○')} ${text}`
  })
}

/** A question as it stands on the screen until the user answers it. */
export interface ShownQuestion {
  readonly title: string
  /** The call that the open question shows; empty for none. */
  readonly toolCallId: string
  readonly rows: (look: Look) => readonly string[]
  /** All of what it is about, where that was shortened. */
  readonly whole?: (look: Look) => readonly string[]
}

/** `hint` is shown to a user whose key was no answer. */
export function askedOf(question: PermissionQuestion, hint = ''): ShownQuestion {
  const { toolCall } = question
  return {
    title: questionTitle(toolCall),
    toolCallId: toolCall.toolCallId,
    rows: (look) => questionRows(question, look, hint),
    whole: (look) => wholeRows(question, look),
  }
}

const DETAIL_ROWS = 10
/** Lines that are printed on demand. */
const MOST_DETAILS = 2_000
/** Letters of what is asked about that are laid out at all. */
const DETAIL_LENGTH = 4_000

/** The question, the exact effect of the call, and the numbered answers. */
function questionRows(question: PermissionQuestion, look: Look, hint: string): readonly string[] {
  const { toolCall, options } = question
  const { paint, width } = look
  return [
    ...titleRows(toolCall, look),
    ...detailRows(toolCall, look),
    ...options.flatMap(({ name }, index) => optionRows(name, index, { paint, width })),
    paint('dim', `  Press ${numbersOf(question)}; Ctrl-C cancels the turn.`),
    ...(hint === '' ? [] : [paint('asking', `  ${oneLine(hint, width() - 4)}`)]),
  ]
}

/** Some agents say only in the title what would be done, so it is broken into rows and not cut. */
function titleRows(call: ToolCallUpdate, { paint, width, more = '' }: Look): readonly string[] {
  const whole = oneLine(questionTitle(call))
  const rows = wrappedTitle(whole.slice(0, DETAIL_LENGTH), { paint, width })
  const marked = rows.map((row, index) => (index === 0 ? `${paint('asking', '?')} ${row}` : `  ${row}`))
  const left = rows.length - DETAIL_ROWS
  if (left <= 0 && whole.length <= DETAIL_LENGTH) return marked
  return [...marked.slice(0, DETAIL_ROWS), paint('dim', `    … ${Math.max(1, left)} more lines${more}`)]
}

/** A title without what stands before its first row. */
function wrappedTitle(text: string, { paint, width }: Look): readonly string[] {
  const span = { style: 'bold', text, at: 0 } as const
  return wrapSpans([span], { width: width() - 4, first: '', rest: '', paint }).map((row) => row.text)
}

/** The numbers that answer the question. */
export function numbersOf({ options }: PermissionQuestion): string {
  return options.length > 1 ? `1–${options.length}` : '1'
}

/** Wraps a long name instead of cutting it, because two answers may differ only at their ends. */
function optionRows(name: string, index: number, { paint, width }: Look): readonly string[] {
  const span = { style: 'plain', text: oneLine(name, 400), at: 0 } as const
  const rows = wrapSpans([span], { width: width() - 2, first: '     ', rest: '     ', paint })
  return rows.map(({ text }, row) => (row === 0 ? `  ${paint('code', String(index + 1))}  ${text.trimStart()}` : text))
}

export function questionTitle({ title, toolCallId }: ToolCallUpdate): string {
  return title ?? `Allow ${toolCallId || 'this'}?`
}

/** The user must see the whole effect of the call: long lines are broken and not cut. */
function detailRows(call: ToolCallUpdate, { paint, width, more = '' }: Look): readonly string[] {
  const details = detailsOf(call)
  const lines = details.map(({ style, text }) => ({ style, text: clean(text).slice(0, DETAIL_LENGTH) }))
  const rows = lines.slice(0, DETAIL_ROWS).flatMap(({ style, text }) => {
    const span = { style, text: text.replaceAll('\t', '  '), at: 0 } as const
    return wrapSpans([span], { width: width() - 2, first: '    ', rest: '      ', paint }).map((row) => row.text)
  })
  const left = details.length - DETAIL_ROWS + Math.max(0, rows.length - DETAIL_ROWS)
  const isCut = left > 0 || details.some(({ text }) => text.length > DETAIL_LENGTH)
  if (!isCut) return rows
  return [...rows.slice(0, DETAIL_ROWS), paint('dim', `    … ${Math.max(1, left)} more lines${more}`)]
}

/** Nothing where the question shows it all. */
function wholeRows({ toolCall }: PermissionQuestion, { paint, width }: Look): readonly string[] {
  const whole = oneLine(questionTitle(toolCall))
  const title = wrappedTitle(whole, { paint, width })
  const details = detailsOf(toolCall)
  const shownTitle =
    title.length > DETAIL_ROWS || whole.length > DETAIL_LENGTH
      ? title.slice(0, MOST_DETAILS).map((row) => `  ${row}`)
      : []
  if (details.length <= DETAIL_ROWS && details.every(({ text }) => text.length < width() * 2)) return shownTitle
  const rows = details.slice(0, MOST_DETAILS).flatMap(({ style, text }) => {
    const span = { style, text: clean(text).replaceAll('\t', '  '), at: 0 } as const
    return wrapSpans([span], { width: width() - 2, first: '    ', rest: '      ', paint }).map((row) => row.text)
  })
  return [...shownTitle, ...rows]
}

/** A line of a call's content or result. */
export interface DetailLine {
  readonly style: Style
  readonly text: string
}

/** The details of a call: its command or its arguments, its files, and its own description. */
export function detailsOf({ rawInput, content, locations }: ToolCallUpdate): readonly DetailLine[] {
  const shown = contentLines(content ?? [])
  const isDiff = (content ?? []).some(({ type }) => type === 'diff')
  const paths = shown.length > 0 ? [] : (locations ?? []).map(({ path }) => path)
  return [...(isDiff ? [] : inputRows(rawInput)), ...paths].map(dimLine).concat(shown)
}

/** Output as its lines, and a change as its removed and added lines. */
export function contentLines(content: readonly ToolCallContent[]): readonly DetailLine[] {
  return content.flatMap((part) => {
    if (part.type === 'diff') return diffLines(part)
    return part.content === undefined ? [] : contentText(part.content).replace(/\n$/u, '').split('\n').map(dimLine)
  })
}

function dimLine(text: string): DetailLine {
  return { style: 'dim', text }
}

/** A command as the agent wrote it, with its directory and limit if it has them. */
function inputRows(rawInput: unknown): readonly string[] {
  if (rawInput === undefined || rawInput === null) return []
  const { command, ...others } = Object(rawInput) as Readonly<Record<string, unknown>>
  if (typeof command !== 'string') return [JSON.stringify(rawInput)]
  const [first = '', ...rest] = command.split('\n')
  return [`$ ${first}`, ...rest, ...(Object.keys(others).length > 0 ? [JSON.stringify(others)] : [])]
}

const STYLE_OF_MARK = { ' ': 'dim', '-': 'bad', '+': 'good' } as const

function diffLines(change: ToolCallContent): readonly DetailLine[] {
  const lines = linesShown(change).map(({ mark, text }) => ({ style: STYLE_OF_MARK[mark], text: `${mark} ${text}` }))
  return [dimLine(change.path ?? ''), ...lines]
}
