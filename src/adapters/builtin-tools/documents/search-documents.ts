/** `search_documents`: passages of the documents in the session's directories. The guide answers with it, too. */
import { join } from 'node:path'
import { z } from 'zod'
import type { Collection } from '../../../docs-search/index/collections.ts'
import { problemOfQuery } from '../../../docs-search/index/query/query-limits.ts'
import { passagesText } from '../../../docs-search/index/result-text.ts'
import type { PassageHit } from '../../../docs-search/index/worker/protocol.ts'
import { defineTool, longResult } from '../toolset/tool.ts'
import { failTool } from '../toolset/tool-failure.ts'

const DEFAULT_LIMIT = 10
const MAX_LIMIT = 50

export const searchDocuments = defineTool({
  name: 'search_documents',
  title: 'Search documents',
  description:
    'Finds passages in the documents of the session’s directories (Markdown, HTML, PDF, Word, EPUB, plain text) and says where they stand (file:line). Finds English words in their other forms (run, running) and identifiers by their parts (setErrorHandler by error handler); a run of Chinese characters and a name with punctuation (session/load, file.md:12) are found as they are written. The best passages come first. Use few, distinctive words.',
  arguments: z.strictObject({
    query: z.string().min(1).describe('One word or more, separated by spaces.'),
    mode: z
      .enum(['all', 'best', 'phrase'])
      .optional()
      .describe(
        'all (default): passages that have all the words; best: also the titles above a passage count, and if there are few, passages with some of the words; phrase: all words next to each other.',
      ),
    limit: z.int().min(1).max(MAX_LIMIT).optional().describe(`How many passages. Default ${DEFAULT_LIMIT}.`),
    offset: z.int().min(0).optional().describe('How many passages to skip. Default 0.'),
  }),
  kind: 'search',
  readOnly: true,
  preview: ({ query }) => ({ title: `Search documents for “${query.slice(0, 80)}”` }),
  async run({ query, mode = 'all', limit = DEFAULT_LIMIT, offset = 0 }, { caller, memory, services }) {
    const problem = problemOfQuery(query)
    if (problem !== undefined) failTool(`The query ${problem}.`)
    const { index, collections, scope } = await services.documents.open(caller.roots, memory)
    const page = await index.passages({ ...scope, query, mode, limit, offset })
    const hits = page.hits.map((hit) => ({ ...hit, file: pathFromFirstRoot(hit, collections) }))
    const end = offset + hits.length
    const nextOffset = end < page.total && hits.length > 0 ? end : undefined
    const { total, match, notice } = page
    const text = passagesText(
      { ...page, hits },
      { offset, next: nextOffset === undefined ? undefined : `offset ${nextOffset}` },
    )
    return longResult(text, caller.toolCallId, {
      structured: { total, match, results: hits, ...(nextOffset && { nextOffset }), ...(notice && { notice }) },
    })
  },
})

/** A path that the other tools accept: relative to the working directory, absolute below the other directories. */
function pathFromFirstRoot({ collection, file }: PassageHit, collections: readonly Collection[]): string {
  const at = collections.findIndex(({ name }) => name === collection)
  return at > 0 ? join(collections[at]?.path ?? '', file) : file
}
