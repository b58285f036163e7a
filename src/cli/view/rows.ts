/** What tool calls, plans and questions look like, as rows of text. */
import type { PermissionQuestion } from '../../client/questions.ts'
import type { Content, PlanEntry, ToolCallContent, ToolCallUpdate } from '../../client/updates.ts'
import type { Paint } from '../terminal/colors.ts'
import { wrapSpans } from '../terminal/wrap.ts'
import { linesChanged, linesShown } from './difference.ts'
import { clean, oneLine } from '../terminal/text.ts'

export interface Look {
  readonly paint: Paint
  readonly width: () => number
}

/** Words of Parley itself among the thoughts. */
export function isNotice(content: unknown): boolean {
  const { _meta: meta } = content as { readonly _meta?: Readonly<Record<string, unknown>> | null }
  return meta?.['parley/notice'] === true
}

/** Content as text; what is no text is named. */
export function textOf(content: Content): string {
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
  const said = (content ?? []).flatMap((part) => (part.content === undefined ? [] : [textOf(part.content)]))
  const room = width() - title.length - 6
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

const DETAIL_ROWS = 10
/** Letters of what is asked about that are laid out at all. */
const DETAIL_LENGTH = 4_000

/** What is asked, what exactly would happen, and the numbered answers. */
export function questionRows({ toolCall, options }: PermissionQuestion, { paint, width }: Look): readonly string[] {
  return [
    `${paint('asking', '?')} ${paint('bold', oneLine(questionTitle(toolCall), width() - 4))}`,
    ...detailRows(toolCall, { paint, width }),
    ...options.flatMap(({ name }, index) => optionRows(name, index, { paint, width })),
    paint('dim', `  Press ${options.length > 1 ? `1–${options.length}` : '1'}; Ctrl-C cancels the turn.`),
  ]
}

/** What tells two answers apart may stand at their ends. */
function optionRows(name: string, index: number, { paint, width }: Look): readonly string[] {
  const span = { style: 'plain', text: oneLine(name, 400), at: 0 } as const
  const rows = wrapSpans([span], { width: width() - 2, first: '     ', rest: '     ', paint })
  return rows.map(({ text }, row) => (row === 0 ? `  ${paint('code', String(index + 1))}  ${text.trimStart()}` : text))
}

export function questionTitle({ title, toolCallId }: ToolCallUpdate): string {
  return title ?? `May ${toolCallId || 'this'} go on?`
}

/** A person must see all of what would be done: long lines are broken and not cut. */
function detailRows(call: ToolCallUpdate, { paint, width }: Look): readonly string[] {
  const details = detailsOf(call)
  const lines = details.map((line) => clean(line).slice(0, DETAIL_LENGTH))
  const rows = lines.slice(0, DETAIL_ROWS).flatMap((text) => {
    const span = { style: 'dim', text: text.replaceAll('\t', '  '), at: 0 } as const
    return wrapSpans([span], { width: width() - 2, first: '    ', rest: '      ', paint }).map((row) => row.text)
  })
  const left = details.length - DETAIL_ROWS + Math.max(0, rows.length - DETAIL_ROWS)
  const isCut = left > 0 || details.some((line) => line.length > DETAIL_LENGTH)
  return isCut ? [...rows.slice(0, DETAIL_ROWS), paint('dim', `    … ${Math.max(1, left)} more lines`)] : rows
}

function detailsOf({ rawInput, content, locations }: ToolCallUpdate): readonly string[] {
  const shown = (content ?? []).flatMap((part) => {
    if (part.type === 'diff') return diffRows(part)
    return part.content === undefined ? [] : textOf(part.content).split('\n')
  })
  const isDiff = (content ?? []).some(({ type }) => type === 'diff')
  const paths = shown.length > 0 ? [] : (locations ?? []).map(({ path }) => path)
  return [...(isDiff ? [] : inputRows(rawInput)), ...paths, ...shown]
}

/** A command as it is typed; of one with a directory or a limit besides, those too. */
function inputRows(rawInput: unknown): readonly string[] {
  if (rawInput === undefined || rawInput === null) return []
  const { command, ...others } = Object(rawInput) as Readonly<Record<string, unknown>>
  if (typeof command !== 'string') return [JSON.stringify(rawInput)]
  const [first = '', ...rest] = command.split('\n')
  return [`$ ${first}`, ...rest, ...(Object.keys(others).length > 0 ? [JSON.stringify(others)] : [])]
}

function diffRows(change: ToolCallContent): readonly string[] {
  return [change.path ?? '', ...linesShown(change).map(({ mark, text }) => `${mark} ${text}`)]
}
