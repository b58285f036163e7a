/** What a model is given of a long result: its beginning, how much there is, and which call reads on. */
import type { Content } from '../../../ports/content.ts'
import type { ToolResult } from '../../../ports/tools.ts'

/** Characters of text, with the sentence that ends it. */
export const BRIEF_LIMIT = 30_000
const SENTENCE = 300
/** So far back a line may end where the text is cut. */
const NEAR = 500

/** Pictures and sounds are not made of characters to a model: they stay. */
export function withBrief(result: ToolResult, toolCallId: string | undefined): ToolResult {
  const sizes = result.content.map((item) => textOf(item)?.length ?? 0)
  if (sizes.reduce((sum, size) => sum + size, 0) <= BRIEF_LIMIT) return result
  return { ...result, brief: briefOf(result.content, toolCallId) }
}

/** Offsets count the characters of the texts, one for the break between two: so `read_result` reads them. */
function briefOf(content: readonly Content[], toolCallId: string | undefined): readonly Content[] {
  const total = content.flatMap((item) => (item.type === 'text' ? [item.text] : [])).join('\n').length
  const brief: Content[] = []
  let room = BRIEF_LIMIT - SENTENCE
  let offset = 0
  let cutAt: number | undefined
  for (const item of content) {
    const text = textOf(item)
    if (text === undefined) brief.push(item)
    else if (item.type !== 'text') brief.push(text.length <= room ? item : leftOut(item, text))
    else if (cutAt === undefined) {
      const kept = text.length <= room ? text : beginningOf(text, room)
      if (kept.length < text.length) cutAt = offset + kept.length
      if (kept !== '') brief.push({ ...item, text: kept })
    }
    if (item.type === 'text') offset += item.text.length + 1
    room -= Math.min(room, text?.length ?? 0)
  }
  return cutAt === undefined ? brief : [...brief, { type: 'text', text: sentence({ cutAt, total, toolCallId }) }]
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

/** What is no text of its own cannot be read on; the server can be asked for it. */
function leftOut(item: Content, text: string): Content {
  const uri = item.type === 'resource' ? item.resource.uri.slice(0, 200) : ''
  return { type: 'text', text: `[The resource ${uri} with its ${amount(text.length)} characters is left out here.]` }
}

function textOf(item: Content): string | undefined {
  if (item.type === 'text') return item.text
  return item.type === 'resource' && 'text' in item.resource ? item.resource.text : undefined
}

/** To the end of a line if there is one near, and never half of a character. */
function beginningOf(text: string, length: number): string {
  const end = text.lastIndexOf('\n', length - 1) + 1
  return end > Math.max(0, length - NEAR) ? text.slice(0, end) : text.slice(0, length).replace(/[\uD800-\uDBFF]$/u, '')
}

function amount(count: number): string {
  return count.toLocaleString('en-US')
}
