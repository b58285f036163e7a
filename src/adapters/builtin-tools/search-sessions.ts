/** `search_sessions`: searches this and earlier conversations. */
import { z } from 'zod'
import type { SearchHit } from '../../ports/search.ts'
import { defineTool, longResult, textResult } from './toolset/tool.ts'

/** Milliseconds to wait for an index that is behind. */
const INDEX_TIMEOUT_MS = 2_000
/** Characters of a passage. */
const MAX_PASSAGE_CHARS = 1_200

export const searchSessions = defineTool({
  name: 'search_sessions',
  title: 'Search conversations',
  description:
    'Finds what was said and done in earlier conversations about this directory: decisions, commands that worked, errors and how they were mended. All words must occur in a passage. Newest first.',
  arguments: z.strictObject({
    query: z.string().min(1).max(500),
    everywhere: z.boolean().optional().describe('Also conversations about other directories. Default false.'),
    limit: z.int().min(1).max(50).optional().describe('How many passages. Default 10.'),
  }),
  kind: 'search',
  readOnly: true,
  preview: ({ query }) => ({ title: `Search conversations for “${query.slice(0, 80)}”` }),
  async run({ query, everywhere = false, limit = 10 }, { caller, services }) {
    const [cwd = '/'] = caller.roots
    const { hits, more } = await services.search.search({
      query,
      limit,
      timeoutMs: INDEX_TIMEOUT_MS,
      ...(everywhere ? {} : { cwd }),
    })
    if (hits.length === 0) {
      const wider = everywhere ? 'Use fewer or other words.' : 'Use fewer or other words, or set everywhere.'
      return textResult(`Nothing was said that has all of these words. ${wider}`)
    }
    const rest = more ? ['[There is more: use more words, or a higher limit.]'] : []
    return longResult([...hits.map(passage), ...rest].join('\n\n'), caller.toolCallId)
  },
})

function passage({ sessionId, cwd, title, by, at, text }: SearchHit): string {
  const when = new Date(at).toISOString().slice(0, 16).replace('T', ' ')
  return `${title ?? 'Untitled'} (session ${sessionId} in ${cwd}), ${by}, ${when}:\n${text.slice(0, MAX_PASSAGE_CHARS)}`
}
