/** Shows what there is to search: the documents, collection by collection. */
import type { DocumentInfo } from '../../index/worker/protocol.ts'
import { afterOf, cursorAfter } from './cursor.ts'
import { type DocumentTool, READS_ONLY, result, scopeSchema } from './tool.ts'

const TOOL_NAME = 'list_documents'
const DEFAULT_LIMIT = 50
const MAX_LIMIT = 200

const DOCUMENT = {
  title: { type: 'string' },
  collection: { type: 'string' },
  file: { type: 'string', description: 'Path in the collection.' },
  bytes: { type: 'integer', minimum: 0 },
  modified: { type: 'string', description: 'ISO 8601.' },
  uri: { type: 'string', description: 'Give this to read_document or outline.' },
} as const

export const listDocuments: DocumentTool = {
  name: TOOL_NAME,
  definition: (collections) => ({
    name: TOOL_NAME,
    title: 'List documents',
    description: 'Lists the served documents in the order of their addresses, optionally only below a path.',
    inputSchema: {
      type: 'object',
      properties: {
        scope: scopeSchema(collections),
        path: { type: 'string', description: 'How the path in the collection begins: guides/.' },
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: MAX_LIMIT,
          default: DEFAULT_LIMIT,
          description: 'Documents a page.',
        },
        cursor: { type: 'string', description: 'nextCursor of the page before, with the same scope and path.' },
      },
    },
    outputSchema: {
      type: 'object',
      properties: {
        total: { type: 'integer', minimum: 0, description: 'Documents on all pages.' },
        nextCursor: { type: 'string', description: 'Absent on the last page.' },
        notice: { type: 'string', description: 'What is not listed, and why.' },
        documents: {
          type: 'array',
          items: { type: 'object', properties: DOCUMENT, required: Object.keys(DOCUMENT), additionalProperties: false },
        },
      },
      required: ['total', 'documents'],
      additionalProperties: false,
    },
    annotations: { title: 'List documents', ...READS_ONLY },
  }),
  async call(args) {
    const list = { collections: args.scope(), prefix: args.optionalText('path') ?? '' }
    const limit = args.integer('limit', 1, MAX_LIMIT) ?? DEFAULT_LIMIT
    const cursor = args.optionalText('cursor')
    const after = cursor === undefined ? {} : { after: afterOf(list, cursor) }
    const { documents, total, next, notice } = await args.view.index.list({ ...list, limit, ...after })
    const structured = {
      total,
      ...(next === undefined ? {} : { nextCursor: cursorAfter(list, next) }),
      ...(notice === undefined ? {} : { notice }),
      documents: documents.map(entry),
    }
    const head = total === 1 ? '1 document.' : `${total} documents.`
    const more = structured.nextCursor === undefined ? [] : [`More with cursor ${structured.nextCursor}`]
    const lines = documents.map(({ uri, title }) => `${uri} (${title})`).join('\n')
    return result(structured, [head, ...(notice === undefined ? [] : [notice]), lines, ...more].join('\n\n'))
  },
}

function entry({ title, collection, file, bytes, modified, uri }: DocumentInfo): Readonly<Record<string, unknown>> {
  return { title, collection, file, bytes, modified, uri }
}
