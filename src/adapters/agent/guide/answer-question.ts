/** Answers a question with the passages that the session's document search finds, each with its `file:line`. */
import type { Turn } from '../../../ports/agent.ts'
import type { Tool, ToolList, ToolResult } from '../../../ports/tools.ts'
import { NO_DOCUMENTS } from '../../../text/notices.ts'
import { queriesFor } from '../../../text/keyword-queries.ts'

const PASSAGES = 5
/** Queries are tried, the strictest first, until there are enough passages; after a few, one passage is enough. */
const ENOUGH = 3
const STRICT_ATTEMPTS = 4
const ATTEMPTS = 8
/** Lines of a passage that are shown: from a little before the first match. */
const LINES_SHOWN = 7
const LINES_BEFORE = 2
/** A longer question is shortened where it is repeated. */
const MAX_QUOTED_CHARS = 200

const NOT_A_MODEL = '— Parley’s offline guide: found by search in these documents, not written by a model.'

const NOTHING_TO_SEARCH =
  '— Parley’s offline guide, not a model: it answers from documents, and runs tools. Type /help.'

interface Passage {
  readonly title: string
  readonly headingPath: readonly string[]
  readonly file: string
  readonly line: number
  readonly snippet: string
  /** Ranges of the matches in the snippet. */
  readonly highlights: readonly (readonly [start: number, end: number])[]
  readonly uri: string
}

interface FoundPassages {
  readonly results: readonly Passage[]
  /** Which documents were not searched, and why. */
  readonly notice?: string
}

interface Gathered {
  readonly passages: readonly Passage[]
  readonly notice: string | undefined
}

export async function answerQuestion(turn: Turn, list: ToolList, question: string): Promise<void> {
  const search = list.tools.find((tool) => tool.builtin && tool.serverToolName === 'search_documents')
  if (search === undefined) return say(turn, 'The document search is not available in this session.')
  const result = await gather(turn, search, question)
  if (turn.signal.aborted) return
  if (typeof result === 'string') return say(turn, `The search failed: ${result}`)
  const { passages, notice } = result
  // Without documents, advice to try other words would not help.
  if (notice !== NO_DOCUMENTS) await say(turn, headline(passages.length, turn, question))
  for (const passage of passages) await say(turn, passageText(passage))
  if (notice !== undefined) await say(turn, `${notice}\n\n`)
  await say(turn, notice === NO_DOCUMENTS ? NOTHING_TO_SEARCH : NOT_A_MODEL)
}

/** The passages of the strictest query first, then those of looser ones; a text if the search itself failed. */
async function gather(turn: Turn, search: Tool, question: string): Promise<Gathered | string> {
  const passages = new Map<string, Passage>()
  let notice: string | undefined
  for (const [attempt, query] of queriesFor(question).slice(0, ATTEMPTS).entries()) {
    const enough = attempt < STRICT_ATTEMPTS ? ENOUGH : 1
    if (turn.signal.aborted || passages.size >= enough) break
    const result = await turn.call({
      name: search.name,
      args: { query, mode: 'best', limit: PASSAGES },
      permission: 'policy',
      // The first query leaves out filler words; the title shows the question as the user asked it.
      ...(attempt === 0 && { title: `${search.title}: “${shortQuestion(question)}”` }),
    })
    if (result.isError) return resultText(result)
    const found = result.structured as FoundPassages
    notice = found.notice
    for (const passage of found.results) {
      if (!passages.has(passage.uri)) passages.set(passage.uri, passage)
    }
  }
  return { passages: [...passages.values()].slice(0, PASSAGES), notice }
}

function passageText({ title, headingPath, file, line, ...found }: Passage): string {
  const heading = headingPath.length > 0 ? headingPath.join(' › ') : title
  const quoted = excerpt(found)
    .map((text) => `> ${text}`)
    .join('\n')
  return `**${heading}** — \`${file}:${line}\`\n${quoted}\n\n`
}

/** The lines around the first match. */
function excerpt({ snippet, highlights }: Pick<Passage, 'snippet' | 'highlights'>): readonly string[] {
  const lines = snippet.split('\n')
  const match = snippet.slice(0, highlights[0]?.[0] ?? 0).split('\n').length - 1
  const from = Math.max(0, Math.min(match - LINES_BEFORE, lines.length - LINES_SHOWN))
  const shown = lines.slice(from, from + LINES_SHOWN)
  return shown.join('\n').trim().split('\n')
}

function headline(count: number, { roots }: Turn, question: string): string {
  if (count === 0)
    return `Nothing in the documents of ${roots.join(', ')} matches “${shortQuestion(question)}”. Try other words, or fewer.\n\n`
  return count === 1 ? 'One passage fits:\n\n' : `The ${count} passages that fit best:\n\n`
}

function shortQuestion(question: string): string {
  return question.length > MAX_QUOTED_CHARS
    ? `${question.slice(0, MAX_QUOTED_CHARS).replace(/\p{Cs}$/u, '')} …`
    : question
}

function resultText({ content }: ToolResult): string {
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join(' ')
}

function say(turn: Turn, text: string): Promise<void> {
  return turn.say({ type: 'text', text })
}
