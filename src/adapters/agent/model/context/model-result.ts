/** A tool's result as the model is given it: brief where the tool can be, and never longer than a context can bear. */
import type { Content } from '../../../../ports/content.ts'
import type { ToolList, ToolResult } from '../../../../ports/tools.ts'

/** Characters of text in one result. */
const LONGEST = 30_000

interface Given {
  /** Of the call. */
  readonly id: string
  readonly list: ToolList
}

export function forModel(result: ToolResult, given: Given): Pick<ToolResult, 'content' | 'isError'> {
  const content = result.brief ?? spoken(result)
  return { content: shortened(content, advice(given)), isError: result.isError }
}

/** A server that answers with structure alone has said something too. */
function spoken({ content, structured }: ToolResult): readonly Content[] {
  if (content.length > 0) return content
  return [{ type: 'text', text: structured === undefined ? '(no output)' : JSON.stringify(structured) }]
}

function shortened(content: readonly Content[], advice: string): readonly Content[] {
  let room = LONGEST
  return content.flatMap((block): readonly Content[] => {
    const text = textOf(block)
    if (text === undefined) return [block]
    if (text.length <= room) {
      room -= text.length
      return [block]
    }
    const cut: Content = {
      type: 'text',
      text: `${whole(text, room)}\n[… ${text.length - room} more characters. ${advice}]`,
    }
    const wasFull = room === 0
    room = 0
    return wasFull ? [] : [cut]
  })
}

function textOf(block: Content): string | undefined {
  if (block.type === 'text') return block.text
  return block.type === 'resource' && 'text' in block.resource ? block.resource.text : undefined
}

/** Never half of a character. */
function whole(text: string, length: number): string {
  return text.slice(0, length).replace(/[\uD800-\uDBFF]$/u, '')
}

function advice({ id, list }: Given): string {
  const reader = list.tools.find(
    ({ name, trusted, original }) => trusted && (name === 'read_result' || original === 'read_result'),
  )
  return reader === undefined ? 'Ask for less.' : `${reader.name} with the id ${id} gives the rest.`
}
