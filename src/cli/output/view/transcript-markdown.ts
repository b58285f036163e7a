/** A transcript as Markdown that reads well where it is rendered and where it is not. */
import type { Item, MessageItem, ToolCallItem } from '../../../client/transcript/items.ts'
import type { Content, PlanEntry, ToolCallContent } from '../../../client/incoming/updates.ts'
import { clean, oneLine } from '../terminal/text.ts'
import { contentText } from './rows.ts'
import type { StoredTranscript } from './stored-transcript.ts'

export interface MarkdownSource {
  readonly session: {
    readonly sessionId: string
    readonly cwd: string
    readonly updatedAt: string
    readonly title?: string | null
  }
  /** One after the other; the last one says how all of it ends. */
  readonly turns: AsyncIterable<StoredTranscript>
}

/** Yields line by line. Messages are not escaped, because most of them are Markdown already. */
export async function* markdownOf({ session, turns }: MarkdownSource): AsyncGenerator<string> {
  yield* [`# ${oneLine(session.title ?? 'Untitled session')}`, '']
  yield* [`- Session: \`${session.sessionId}\``, `- Directory: ${inline(session.cwd)}`, `- Last: ${session.updatedAt}`]
  let speaker: string | undefined
  let last: StoredTranscript | undefined
  for await (const turn of turns) {
    for (const item of turn.transcript.items) {
      const next = speakerOf(item)
      if (next !== undefined && next !== speaker) yield* ['', `## ${next}`]
      speaker = next ?? speaker
      yield* itemLines(item)
    }
    last = turn
  }
  const plan = last?.transcript.plan ?? []
  if (plan.length > 0) yield* ['', '## Plan', '', ...plan.map(planLine)]
  if (last?.unfinished !== undefined) yield* ['', '*Not finished: the last turn has not ended.*']
}

function speakerOf(item: Item): string | undefined {
  switch (item.kind) {
    case 'message':
      return item.role === 'user' ? 'User' : 'Agent'
    case 'tool_call':
      return 'Agent'
    case 'end':
    case 'other':
      return undefined
  }
}

function itemLines(item: Item): readonly string[] {
  switch (item.kind) {
    case 'message':
      return messageLines(item)
    case 'tool_call':
      return callLines(item)
    case 'end':
    case 'other':
      return []
  }
}

function messageLines({ role, content }: MessageItem): readonly string[] {
  const text = clean(content.map(contentText).join('\n\n')).trim()
  if (text === '') return []
  const lines = text.split('\n')
  return ['', ...(role === 'thought' ? lines.map((line) => `> ${line}`.trimEnd()) : lines)]
}

const STATUS: Readonly<Record<string, string>> = { completed: 'done', failed: 'failed', in_progress: 'running' }

function callLines({ call }: ToolCallItem): readonly string[] {
  const title = inline(oneLine(call.title ?? call.toolCallId))
  const head = ['', `**Tool:** ${title} (${STATUS[call.status ?? ''] ?? 'waiting'})`]
  return [...head, ...(call.content ?? []).flatMap(reportLines)]
}

function reportLines(part: ToolCallContent): readonly string[] {
  if (part.type === 'diff') return fenced(diffText(part), 'diff')
  if (part.content === undefined) return []
  return fenced(reportText(part.content), '')
}

function reportText(content: Content): string {
  return clean(contentText(content)).trimEnd()
}

function diffText({ path, oldText, newText }: ToolCallContent): string {
  const marked = (sign: string, text: string | null | undefined) =>
    text
      ? clean(text)
          .replace(/\n$/u, '')
          .split('\n')
          .map((line) => `${sign}${line}`)
      : []
  return [`--- ${oneLine(path ?? '')}`, ...marked('-', oldText), ...marked('+', newText)].join('\n')
}

/** With more backticks than the text has in a row, so that it cannot end the block. */
function fenced(text: string, language: string): readonly string[] {
  if (text === '') return []
  const fence = '`'.repeat(Math.max(3, longestRun(text) + 1))
  return ['', `${fence}${language}`, ...text.split('\n'), fence]
}

function inline(text: string): string {
  const tick = '`'.repeat(longestRun(text) + 1)
  const gap = text.startsWith('`') || text.endsWith('`') ? ' ' : ''
  return `${tick}${gap}${text}${gap}${tick}`
}

function longestRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/gu) ?? []).map((run) => run.length))
}

function planLine({ content, status }: PlanEntry): string {
  return `- [${status === 'completed' ? 'x' : ' '}] ${oneLine(content)}`
}
