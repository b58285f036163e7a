/** What tool calls, plans and questions look like, as rows of text. */
import type { PermissionQuestion } from '../../client/questions.ts'
import type { Content, PlanEntry, ToolCallContent, ToolCallUpdate } from '../../client/updates.ts'
import type { Paint } from '../terminal/colors.ts'
import { clean, oneLine } from '../terminal/text.ts'

export interface Look {
  readonly paint: Paint
  readonly width: () => number
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
      return `${paint('good', '✓')} ${title}`
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

const DETAIL_ROWS = 6

/** What is asked, what exactly would happen, and the numbered answers. */
export function questionRows({ toolCall, options }: PermissionQuestion, { paint, width }: Look): readonly string[] {
  return [
    `${paint('asking', '?')} ${paint('bold', oneLine(questionTitle(toolCall), width() - 4))}`,
    ...detailsOf(toolCall).map((row) => paint('dim', `    ${oneLine(row, width() - 6)}`)),
    ...options.map(({ name }, index) => `  ${paint('code', String(index + 1))}  ${oneLine(name, width() - 8)}`),
    paint('dim', `  Press ${options.length > 1 ? `1–${options.length}` : '1'}; Ctrl-C cancels the turn.`),
  ]
}

export function questionTitle({ title, toolCallId }: ToolCallUpdate): string {
  return title ?? `May ${toolCallId || 'this'} go on?`
}

/** A person must see what would be done, not only what it is called. */
function detailsOf({ rawInput, content, locations }: ToolCallUpdate): readonly string[] {
  const input = rawInput === undefined || rawInput === null ? [] : [JSON.stringify(rawInput)]
  const shown = (content ?? []).flatMap((part) => {
    if (part.type === 'diff') return diffRows(part)
    return part.content === undefined ? [] : clean(textOf(part.content)).split('\n')
  })
  const paths = shown.length > 0 ? [] : (locations ?? []).map(({ path }) => path)
  const rows = [...input, ...paths, ...shown]
  return rows.length > DETAIL_ROWS ? [...rows.slice(0, DETAIL_ROWS), `… ${rows.length - DETAIL_ROWS} more lines`] : rows
}

function diffRows({ path, oldText, newText }: ToolCallContent): readonly string[] {
  const removed = (oldText ?? '').split('\n').filter((line) => line !== '')
  const added = (newText ?? '').split('\n').filter((line) => line !== '')
  return [path ?? '', ...removed.map((line) => `- ${line}`), ...added.map((line) => `+ ${line}`)]
}
