/** Reads a document that a search found, or one section of it, in pieces. */
import { excerptText } from '../../index/result-text.ts'
import { type DocumentTool, READS_ONLY, result } from './tool.ts'

const TOOL_NAME = 'read_document'
const DEFAULT_CHARACTERS = 8_000
const MAX_CHARACTERS = 50_000

export const readDocument: DocumentTool = {
  name: TOOL_NAME,
  definition: () => ({
    name: TOOL_NAME,
    title: 'Read a document',
    description:
      'Reads a document that a search found, from the line that the uri names (#L12), its section (#setup) or its start. With section only that section; with offset from there. Go on with offset set to nextOffset until there is none.',
    inputSchema: {
      type: 'object',
      properties: {
        uri: { type: 'string', description: 'uri of a search result.' },
        section: { type: 'string', description: 'A heading, or several from the top: Setup > Linux.' },
        offset: { type: 'integer', minimum: 0, description: 'In UTF-16 units from the start of the document.' },
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: MAX_CHARACTERS,
          default: DEFAULT_CHARACTERS,
          description: 'Characters at most.',
        },
      },
      required: ['uri'],
    },
    outputSchema: {
      type: 'object',
      properties: {
        uri: { type: 'string' },
        title: { type: 'string' },
        file: { type: 'string', description: 'Path in the served directory.' },
        line: { type: 'integer', minimum: 1, description: 'Line of the first character.' },
        text: { type: 'string' },
        offset: { type: 'integer', minimum: 0 },
        nextOffset: { type: 'integer', minimum: 1, description: 'Absent at the end of the document or section.' },
        totalCharacters: { type: 'integer', minimum: 0, description: 'Length of the whole document.' },
      },
      required: ['uri', 'title', 'file', 'line', 'text', 'offset', 'totalCharacters'],
      additionalProperties: false,
    },
    annotations: { title: 'Read a document', ...READS_ONLY },
  }),
  async call(args) {
    const uri = args.text('uri')
    const section = args.optionalText('section')
    const offset = args.integer('offset', 0, Number.MAX_SAFE_INTEGER)
    const limit = args.integer('limit', 1, MAX_CHARACTERS) ?? DEFAULT_CHARACTERS
    const found = await args.view.index.read({
      uri,
      collections: args.view.all(),
      limit,
      ...(section === undefined ? {} : { section }),
      ...(offset === undefined ? {} : { offset }),
    })
    const { mimeType: _, ...excerpt } = found
    return result({ ...excerpt }, excerptText(found))
  },
}
