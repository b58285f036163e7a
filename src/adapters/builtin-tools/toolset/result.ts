/** Results of builtin tools: the whole for the journal, and a shortened form for the model. */
import { fail } from '../../../errors/parley-error.ts'
import type { TextContent } from '../../../ports/values/content.ts'
import type { ToolResult } from '../../../ports/tools.ts'

/** Characters of one result that a model is given. */
export const MAX_MODEL_CHARS = 30_000
/** Characters of one result that are kept. */
export const MAX_KEPT_CHARS = 1024 * 1024

/** A shortened text shows more of its beginning than of its end. */
const HEAD_SHARE = 0.6

export function textResult(text: string, more: Partial<ToolResult> = {}): ToolResult {
  return { content: [textBlock(text)], isError: false, ...more }
}

/** Throws a sentence that the model can act on: the failure, and how to fix it. */
export function failTool(reason: string, cause?: unknown): never {
  return fail('TOOL_FAILED', { reason }, cause)
}

/** A long text: kept up to a limit, its beginning and its end for the model, with how to read what lies between. */
export function longResult(text: string, toolCallId: string, more: Partial<ToolResult> = {}): ToolResult {
  const kept = cutInTheMiddle(text, MAX_KEPT_CHARS, (left) => `[${formatCount(left)} characters were not kept.]`)
  if (kept.length <= MAX_MODEL_CHARS) return textResult(kept, more)
  const advice = (left: number, from: number) =>
    `[${formatCount(left)} characters are left out here. Read them with read_result: toolCallId "${toolCallId}", offset ${from}.]`
  return textResult(kept, { modelContent: [textBlock(cutInTheMiddle(kept, MAX_MODEL_CHARS, advice))], ...more })
}

/** Room for the note between beginning and end, so that the whole stays within its limit. */
const NOTE_CHARS = 400

/** The beginning and the end, at lines where there are any near, and between them what `note` says. */
function cutInTheMiddle(text: string, limit: number, note: (left: number, from: number) => string): string {
  if (text.length <= limit) return text
  const room = limit - NOTE_CHARS
  const head = endOfLine(text, characterBoundary(text, Math.floor(room * HEAD_SHARE)))
  const tail = startOfLine(text, characterBoundary(text, text.length - Math.floor(room * (1 - HEAD_SHARE))))
  return `${text.slice(0, head)}\n${note(tail - head, head)}\n${text.slice(tail)}`
}

export function formatCount(count: number): string {
  return count.toLocaleString('en-US')
}

export function textBlock(text: string): TextContent {
  return { type: 'text', text }
}

const NEAR = 500

function endOfLine(text: string, at: number): number {
  const end = text.lastIndexOf('\n', at)
  return end > at - NEAR ? end : at
}

function startOfLine(text: string, at: number): number {
  const start = text.indexOf('\n', at) + 1
  return start > 0 && start < at + NEAR ? start : at
}

/** Never between the two halves of one character. */
export function characterBoundary(text: string, at: number): number {
  return /[\uDC00-\uDFFF]/u.test(text.charAt(at)) && at > 0 ? at - 1 : at
}
