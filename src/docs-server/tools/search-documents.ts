/** The search tool: passages with their place, the best first. */
import { fail } from '../../errors/parley-error.ts'
import type { DocumentIndex, Page, PassageHit } from '../index/protocol.ts'
import { cursorOf, placeOf } from './cursor.ts'
import { type DocumentTool, READS_ONLY, result } from './tool.ts'

const NAME = 'search_documents'
const USUAL = 10
const MOST = 50

const HIT = {
  title: { type: 'string', description: 'Title of the document.' },
  headingPath: { type: 'array', items: { type: 'string' }, description: 'The headings that the passage stands under.' },
  file: { type: 'string', description: 'Path in the served directory.' },
  line: { type: 'integer', minimum: 1, description: 'Line of the first match.' },
  snippet: { type: 'string' },
  highlights: {
    type: 'array',
    items: { type: 'array', items: { type: 'integer', minimum: 0 }, minItems: 2, maxItems: 2 },
    description: 'The matches in the snippet as [start, end), in UTF-16 units.',
  },
  score: { type: 'number', description: 'Relevance within this search: higher is better.' },
  uri: { type: 'string', description: 'Give this to read_document to read on.' },
} as const

export function searchDocuments(index: DocumentIndex): DocumentTool {
  return {
    definition: {
      name: NAME,
      title: 'Search documents',
      description:
        'Finds passages in the served documents and says where they stand (file:line). Words separated by spaces must all occur in a passage, as whole words; a run of Chinese characters and a name with punctuation (session/load, file.md:12) are found as they are written. Passages that have the words next to each other come first. Use few, distinctive words.',
      inputSchema: {
        type: 'object',
        properties: {
          query: { type: 'string', description: 'One word or more, separated by spaces.' },
          limit: { type: 'integer', minimum: 1, maximum: MOST, default: USUAL, description: 'Passages a page.' },
          cursor: { type: 'string', description: 'nextCursor of the page before, with the same query.' },
        },
        required: ['query'],
      },
      outputSchema: {
        type: 'object',
        properties: {
          total: { type: 'integer', minimum: 0, description: 'Passages on all pages.' },
          nextCursor: { type: 'string', description: 'Absent on the last page.' },
          notice: { type: 'string', description: 'What was not searched, and why.' },
          results: {
            type: 'array',
            items: { type: 'object', properties: HIT, required: Object.keys(HIT), additionalProperties: false },
          },
        },
        required: ['total', 'results'],
        additionalProperties: false,
      },
      annotations: { title: 'Search documents', ...READS_ONLY },
    },
    async call(args) {
      const query = args.query('query')
      const limit = args.whole('limit', 1, MOST) ?? USUAL
      const cursor = args.optionalText('cursor')
      const place = cursor === undefined ? undefined : placeOf(query, cursor)
      const offset = place?.offset ?? 0
      const page = await index.passages({ query, offset, limit })
      if (place !== undefined && place.generation !== page.generation) fail('DOCS_CHANGED', {})
      return found(query, offset, page)
    },
  }
}

function found(query: string, offset: number, page: Page<PassageHit>): ReturnType<typeof result> {
  const { total, hits, generation, notice } = page
  const next = offset + hits.length
  const nextCursor = next < total ? cursorOf(query, { offset: next, generation }) : undefined
  const structured = {
    total,
    ...(nextCursor === undefined ? {} : { nextCursor }),
    ...(notice === undefined ? {} : { notice }),
    results: hits,
  }
  const count = total === 1 ? '1 passage' : `${total} passages`
  const head = hits.length === 0 ? `${count} found.` : `${count} found; here are ${offset + 1} to ${next}.`
  const more = nextCursor === undefined ? [] : [`More with cursor ${nextCursor}`]
  const list = hits.map((hit, i) => listed(hit, offset + i + 1))
  return result(structured, [head, ...(notice === undefined ? [] : [notice]), ...list, ...more].join('\n\n'))
}

function listed(hit: PassageHit, number: number): string {
  const under = hit.headingPath.length > 0 ? hit.headingPath.join(' > ') : hit.title
  return `${number}. ${hit.file}:${hit.line} (${under})\n${hit.uri}\n${hit.snippet}`
}
