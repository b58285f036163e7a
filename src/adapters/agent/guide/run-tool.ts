/** Runs the tool that the user named and shows its result; continues when the permission came after a restart. */
import type { Resumption, Turn } from '../../../ports/agent.ts'
import type { Content } from '../../../ports/values/content.ts'
import type { ToolList, ToolResult } from '../../../ports/tools.ts'
import { mayContinue } from '../may-continue.ts'

/** State that `/call` needs to continue after a restart. */
interface NamedCall {
  readonly name: string
  readonly args: unknown
}

export async function runTool(turn: Turn, { tools }: ToolList, call: NamedCall): Promise<void> {
  const named =
    tools.find((tool) => tool.name === call.name) ?? onlyOne(tools.filter((tool) => tool.serverToolName === call.name))
  const resume: NamedCall = { name: named?.name ?? call.name, args: call.args }
  await show(turn, await turn.call({ ...resume, permission: 'policy', resume }))
}

export async function goOn(turn: Turn, { calls }: Resumption): Promise<void> {
  for (const call of calls) {
    const { toolCallId } = call
    const resume = call.state as NamedCall
    if (mayContinue(call)) await show(turn, await turn.call({ ...resume, toolCallId, permission: 'granted', resume }))
    else {
      await turn.report(toolCallId, { status: 'failed' })
      await turn.say({ type: 'text', text: 'Not allowed, so the tool was not run.' })
    }
  }
}

async function show(turn: Turn, { content, isError }: ToolResult): Promise<void> {
  if (turn.signal.aborted) return
  if (isError) await turn.say({ type: 'text', text: 'The tool failed.\n\n' })
  for (const block of content) await turn.say(readable(block))
}

/** Text as it is, in its lines; links and resources by their name or URI. */
function readable(block: Content): Content {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: inLines(block.text) }
    case 'resource_link':
      return { type: 'text', text: `[${block.title ?? block.name}](${block.uri})\n` }
    case 'resource':
      return { type: 'text', text: 'text' in block.resource ? `${block.resource.text}\n` : `(${block.resource.uri})\n` }
    default:
      return block
  }
}

/** Clients show Markdown, where lines of a paragraph run together. */
function inLines(text: string): string {
  if (!text.trim().includes('\n')) return `${text}\n`
  const fence = '`'.repeat(Math.max(3, ...[...text.matchAll(/`+/gu)].map(([run]) => run.length + 1)))
  return `${fence}\n${text.replace(/\n$/u, '')}\n${fence}\n`
}

function onlyOne<Value>(values: readonly Value[]): Value | undefined {
  return values.length === 1 ? values[0] : undefined
}
