/** The part of a long result that the model gets: its beginning, its length, and the call that reads the rest. */
import { characterBoundary, formatCount } from '../../../../text/shorten.ts'
import type { Content } from '../../../../ports/values/content.ts'
import type { ToolResult } from '../../../../ports/tools.ts'

/** Text of a result for the model, including the sentence that ends it and remarks on the call. */
export const MAX_MODEL_CHARS = 30_000
const REMARKS = 1000
/** The cut moves back at most this far to the end of a line. */
const MAX_BACKTRACK_CHARS = 500

/** Images and audio stay: they do not count as text. */
export function withModelContent(result: ToolResult, toolCallId: string | undefined): ToolResult {
  const sizes = result.content.map((item) => textOfPart(item)?.length ?? 0)
  if (sizes.reduce((sum, size) => sum + size, 0) <= MAX_MODEL_CHARS) return result
  return { ...result, modelContent: modelContentOf(result.content, toolCallId) }
}

/** Offsets refer to the text that `allTextIn` returns, as in `read_result`. */
function modelContentOf(content: readonly Content[], toolCallId: string | undefined): readonly Content[] {
  const total = allTextIn(content).length
  const brief: Content[] = []
  let room = MAX_MODEL_CHARS - REMARKS
  let offset = 0
  let cutAt: number | undefined
  for (const item of content) {
    const text = textOfPart(item)
    if (text === undefined) brief.push(item)
    else if (cutAt === undefined) {
      const kept = text.length <= room ? text : beginningOf(text, room)
      if (kept.length < text.length) cutAt = offset + kept.length
      if (kept !== '') brief.push(saying(item, kept))
      offset += text.length + 1
      room -= kept.length
    }
  }
  return [...brief, { type: 'text', text: sentence({ cutAt: cutAt ?? total, total, toolCallId }) }]
}

function saying(item: Content, text: string): Content {
  if (item.type === 'resource') return { ...item, resource: { ...item.resource, text } }
  return item.type === 'text' ? { ...item, text } : item
}

interface Cut {
  readonly cutAt: number
  readonly total: number
  readonly toolCallId: string | undefined
}

function sentence({ cutAt, total, toolCallId }: Cut): string {
  const how =
    toolCallId === undefined
      ? 'Ask the tool for less.'
      : `Read on with read_result: toolCallId "${toolCallId}", offset ${cutAt}.`
  return `[These are the first ${formatCount(cutAt)} of ${formatCount(total)} characters. ${how}]`
}

/** Cuts at the end of a line if one is near, and never inside a character. */
function beginningOf(text: string, length: number): string {
  const end = text.lastIndexOf('\n', length - 1) + 1
  return text.slice(0, end > Math.max(0, length - MAX_BACKTRACK_CHARS) ? end : characterBoundary(text, length))
}

/** The text of one part; undefined for images, audio and links. */
function textOfPart(item: Content): string | undefined {
  if (item.type === 'text') return item.text
  return item.type === 'resource' && 'text' in item.resource ? item.resource.text : undefined
}

/** The text of a result: its parts, separated by a line break. `read_result` uses it too. */
export function allTextIn(content: readonly Content[]): string {
  return content.flatMap((item) => textOfPart(item) ?? []).join('\n')
}
