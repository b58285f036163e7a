/** What a model is given of a long result: its beginning, how much there is, and which call reads on. */
import type { Content } from '../../../../ports/content.ts'
import type { ToolResult } from '../../../../ports/tools.ts'

/** Characters of text, with the sentence that ends it and what is remarked on the call. */
export const BRIEF_LIMIT = 30_000
const REMARKS = 1000
/** So far back a line may end where the text is cut. */
const NEAR = 500

/** Pictures and sounds are not made of characters to a model: they stay. */
export function withModelContent(result: ToolResult, toolCallId: string | undefined): ToolResult {
  const sizes = result.content.map((item) => wordsIn(item)?.length ?? 0)
  if (sizes.reduce((sum, size) => sum + size, 0) <= BRIEF_LIMIT) return result
  return { ...result, modelContent: briefOf(result.content, toolCallId) }
}

/** Offsets count as `allWordsIn` does. */
function briefOf(content: readonly Content[], toolCallId: string | undefined): readonly Content[] {
  const total = allWordsIn(content).length
  const brief: Content[] = []
  let room = BRIEF_LIMIT - REMARKS
  let offset = 0
  let cutAt: number | undefined
  for (const item of content) {
    const text = wordsIn(item)
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
  return `[These are the first ${amount(cutAt)} of ${amount(total)} characters. ${how}]`
}

/** To the end of a line if there is one near, and never half of a character. */
function beginningOf(text: string, length: number): string {
  const end = text.lastIndexOf('\n', length - 1) + 1
  return end > Math.max(0, length - NEAR) ? text.slice(0, end) : text.slice(0, length).replace(/[\uD800-\uDBFF]$/u, '')
}

function amount(count: number): string {
  return count.toLocaleString('en-US')
}

/** Undefined for what is not made of characters. */
function wordsIn(item: Content): string | undefined {
  if (item.type === 'text') return item.text
  return item.type === 'resource' && 'text' in item.resource ? item.resource.text : undefined
}

/** One break stands between two texts. */
export function allWordsIn(content: readonly Content[]): string {
  return content.flatMap((item) => wordsIn(item) ?? []).join('\n')
}
