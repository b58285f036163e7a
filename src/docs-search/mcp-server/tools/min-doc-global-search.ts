/** The search tool of the MinDoc server, for programs that were written for that one: same name, same keys, ten documents a page. */
import type { DocumentHit } from '../../index/worker/protocol.ts'
import { type DocumentTool, READS_ONLY, result } from './tool.ts'

const TOOL_NAME = 'MinDocGlobalSearch'
const HITS_PER_PAGE = 10
const LAST_PAGE = 1_000_000_000

const textField = (description: string) => ({ type: 'string', description })
const HIT = {
  author: textField('Empty: files have no author.'),
  book_id: { type: 'integer', description: 'Number of the collection.' },
  book_identify: textField('Name of the collection.'),
  book_name: textField('Name of the collection.'),
  create_time: textField('ISO 8601.'),
  description: textField('What the document says where it matches best.'),
  doc_id: { type: 'integer' },
  doc_name: textField('Title of the document.'),
  identify: textField('Path of the file in the collection.'),
  modify_time: textField('ISO 8601.'),
  search_type: { type: 'string', enum: ['document'] },
} as const

export const minDocGlobalSearch: DocumentTool = {
  name: TOOL_NAME,
  definition: () => ({
    name: TOOL_NAME,
    title: 'Global document search',
    description:
      'Finds documents by keywords, ten a page, the best first. Words are separated by spaces and all of them must occur in the document; a run of Chinese characters is found as it is written.',
    inputSchema: {
      type: 'object',
      properties: {
        keyword: textField('Words separated by spaces, all of which must occur.'),
        pageIndex: { type: 'integer', minimum: 1, default: 1, description: 'Which page, from 1.' },
      },
      required: ['keyword'],
    },
    outputSchema: {
      type: 'object',
      properties: {
        result: {
          type: 'array',
          items: { type: 'object', properties: HIT, required: Object.keys(HIT), additionalProperties: false },
        },
        totalCount: { type: 'integer', minimum: 0, description: 'Documents on all pages.' },
      },
      required: ['result', 'totalCount'],
      additionalProperties: false,
    },
    annotations: { title: 'Global document search', ...READS_ONLY },
  }),
  async call(args) {
    const query = args.query('keyword')
    const page = args.integer('pageIndex', 1, LAST_PAGE) ?? 1
    const { total, hits, notice } = await args.view.index.documents({
      query,
      mode: 'all',
      collections: args.view.all(),
      offset: (page - 1) * HITS_PER_PAGE,
      limit: HITS_PER_PAGE,
    })
    const found = { result: hits.map(entry), totalCount: total }
    return result(found, JSON.stringify(found), ...(notice === undefined ? [] : [notice]))
  },
}

function entry(hit: DocumentHit): Readonly<Record<keyof typeof HIT, string | number>> {
  return {
    author: '',
    book_id: hit.collectionId,
    book_identify: hit.collection,
    book_name: hit.collection,
    create_time: hit.created,
    description: hit.snippet,
    doc_id: hit.id,
    doc_name: hit.title,
    identify: hit.file,
    modify_time: hit.modified,
    search_type: 'document',
  }
}
