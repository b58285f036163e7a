/** Answers a question with the passages that the session's document search finds, each with its `file:line`. */
import type { Turn } from '../../../ports/agent.ts'
import type { Tool, ToolList, ToolResult } from '../../../ports/tools.ts'
import { queriesFor } from '../../../text/question.ts'

const PASSAGES = 5
/** Wordings that are tried, the strictest first, until there are enough passages to choose from. */
const ATTEMPTS = 6
const ENOUGH = 3

const NOT_A_MODEL = '— Parley’s offline guide: found by search in these documents, not written by a model.'

interface Passage {
  readonly title: string
  readonly headingPath: readonly string[]
  readonly file: string
  readonly line: number
  readonly snippet: string
  readonly uri: string
}

interface Found {
  readonly results: readonly Passage[]
}

export async function answerQuestion(turn: Turn, list: ToolList, question: string): Promise<void> {
  const search = list.tools.find((tool) => tool.trusted && tool.original === 'search_documents')
  if (search === undefined) return say(turn, unavailable(list))
  const result = await gather(turn, search, question)
  if (turn.signal.aborted) return
  if (typeof result === 'string') return say(turn, `The search failed: ${result}`)
  if (result.length === 0) return say(turn, nothing(turn, question))
  await say(turn, result.length === 1 ? 'One passage fits:\n\n' : `The ${result.length} passages that fit best:\n\n`)
  for (const passage of result) await say(turn, passageText(passage))
  await say(turn, NOT_A_MODEL)
}

/** The hits of the strictest wording first, then those of looser ones; a text when the search itself failed. */
async function gather(turn: Turn, search: Tool, question: string): Promise<readonly Passage[] | string> {
  const passages = new Map<string, Passage>()
  for (const query of queriesFor(question).slice(0, ATTEMPTS)) {
    if (turn.signal.aborted || passages.size >= ENOUGH) break
    const result = await turn.call({ name: search.name, args: { query, limit: PASSAGES }, permission: 'policy' })
    if (result.isError) return textOf(result)
    for (const passage of (result.structured as Found).results) {
      if (!passages.has(passage.uri)) passages.set(passage.uri, passage)
    }
  }
  return [...passages.values()].slice(0, PASSAGES)
}

function passageText({ title, headingPath, file, line, snippet }: Passage): string {
  const heading = headingPath.length > 0 ? headingPath.join(' › ') : title
  const quoted = snippet
    .trim()
    .split('\n')
    .map((text) => `> ${text}`)
    .join('\n')
  return `**${heading}** — \`${file}:${line}\`\n${quoted}\n\n`
}

function nothing(turn: Turn, question: string): string {
  return `Nothing in the documents of ${turn.roots.join(', ')} matches “${question}”. Try other words, or fewer.\n\n${NOT_A_MODEL}`
}

function unavailable({ servers }: ToolList): string {
  const documents = servers.find((server) => server.name === 'docs')
  return `The document search is not available: ${documents?.reason ?? documents?.state ?? 'it is not part of this session'}.`
}

function textOf({ content }: ToolResult): string {
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join(' ')
}

function say(turn: Turn, text: string): Promise<void> {
  return turn.say({ type: 'text', text })
}
