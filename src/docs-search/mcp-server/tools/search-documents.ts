/** The search tool: passages with their place, the best first. */
import { fail } from '../../../errors/parley-error.ts'
import { passagesText } from '../../index/result-text.ts'
import type { PassagePage } from '../../index/worker/protocol.ts'
import { cursorOf, searchPositionOf } from './cursor.ts'
import { type DocumentTool, READS_ONLY, result, scopeSchema } from './tool.ts'

const TOOL_NAME = 'search_documents'
const DEFAULT_LIMIT = 10
const MAX_LIMIT = 50
const MODES = ['all', 'best', 'phrase'] as const

const MODE =
  'all: passages that have all the words; best: also the titles above a passage count, and if there are few, passages with some of the words; phrase: all words next to each other.'

const HIT = {
  title: { type: 'string', description: 'Title of the document.' },
  headingPath: { type: 'array', items: { type: 'string' }, description: 'The headings that the passage stands under.' },
  collection: { type: 'string' },
  file: { type: 'string', description: 'Path in the collection.' },
  line: { type: 'integer', minimum: 1, description: 'Line of the first match.' },
  snippet: { type: 'string' },
  highlights: {
    type: 'array',
    items: { type: 'array', items: { type: 'integer', minimum: 0 }, minItems: 2, maxItems: 2 },
    description: 'The matches in the snippet as [start, end), in UTF-16 units.',
  },
  score: { type: 'number', description: 'Relevance within this search: higher is better.' },
  modified: { type: 'string', description: 'ISO 8601.' },
  uri: { type: 'string', description: 'Give this to read_document to read on.' },
} as const

const OUTPUT = {
  type: 'object',
  properties: {
    total: { type: 'integer', minimum: 0, description: 'Passages on all pages.' },
    match: {
      type: 'string',
      enum: ['all', 'phrase', 'some'],
      description: 'Which part of the query the passages contain.',
    },
    nextCursor: { type: 'string', description: 'Absent on the last page.' },
    notice: { type: 'string', description: 'Documents that were not searched, and why.' },
    results: {
      type: 'array',
      items: { type: 'object', properties: HIT, required: Object.keys(HIT), additionalProperties: false },
    },
  },
  required: ['total', 'match', 'results'],
  additionalProperties: false,
} as const

export const searchDocuments: DocumentTool = {
  name: TOOL_NAME,
  definition: (collections) => ({
    name: TOOL_NAME,
    title: 'Search documents',
    description:
      'Finds passages in the served documents and says where they stand (file:line). Finds English words in their other forms (run, running) and identifiers by their parts (setErrorHandler by error handler); a run of Chinese characters and a name with punctuation (session/load, file.md:12) are found as they are written. Passages with all the words come first, and those that have them next to each other; where none has all, match says some. Use few, distinctive words.',
    inputSchema: {
      type: 'object',
      properties: {
        query: { type: 'string', description: 'One word or more, separated by spaces.' },
        mode: { type: 'string', enum: [...MODES], default: 'all', description: MODE },
        scope: scopeSchema(collections),
        updated_after: { type: 'string', description: 'Only documents modified after this date (ISO 8601).' },
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: MAX_LIMIT,
          default: DEFAULT_LIMIT,
          description: 'Passages a page.',
        },
        cursor: { type: 'string', description: 'nextCursor of the page before, with the same other arguments.' },
      },
      required: ['query'],
    },
    outputSchema: OUTPUT,
    annotations: { title: 'Search documents', ...READS_ONLY },
  }),
  async call(args) {
    const updatedAfter = args.date('updated_after')
    const search = {
      query: args.query('query'),
      mode: args.choice('mode', MODES) ?? 'all',
      collections: args.scope(),
      ...(updatedAfter === undefined ? {} : { updatedAfter }),
    } as const
    const limit = args.integer('limit', 1, MAX_LIMIT) ?? DEFAULT_LIMIT
    const cursor = args.optionalText('cursor')
    const place = cursor === undefined ? undefined : searchPositionOf(search, cursor)
    const offset = place?.offset ?? 0
    const page = await args.view.index.passages({ ...search, offset, limit })
    if (place !== undefined && place.generation !== page.generation) fail('DOCS_CHANGED', {})
    return found(search, offset, page)
  },
}

function found(search: object, offset: number, page: PassagePage): ReturnType<typeof result> {
  const { total, match, hits, generation, notice } = page
  const next = offset + hits.length
  const nextCursor = next < total ? cursorOf(search, { offset: next, generation }) : undefined
  const structured = {
    total,
    match,
    ...(nextCursor === undefined ? {} : { nextCursor }),
    ...(notice === undefined ? {} : { notice }),
    results: hits,
  }
  const nextPage = nextCursor === undefined ? undefined : `cursor ${nextCursor}`
  return result(structured, passagesText(page, { offset, next: nextPage }))
}
