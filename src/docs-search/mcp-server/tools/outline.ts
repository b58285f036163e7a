/** Shows how a document is built, so that a reader can go to one section of it. */
import { type DocumentTool, READS_ONLY, result } from './tool.ts'

const TOOL_NAME = 'outline'

const HEADING = {
  level: { type: 'integer', minimum: 1 },
  title: { type: 'string' },
  line: { type: 'integer', minimum: 1 },
  uri: { type: 'string', description: 'Give this to read_document to read the section.' },
} as const

export const outline: DocumentTool = {
  name: TOOL_NAME,
  definition: () => ({
    name: TOOL_NAME,
    title: 'Outline of a document',
    description: 'Gives the headings of a document, each with its line and the address of its section.',
    inputSchema: {
      type: 'object',
      properties: { uri: { type: 'string', description: 'uri of a search result or of list_documents.' } },
      required: ['uri'],
    },
    outputSchema: {
      type: 'object',
      properties: {
        uri: { type: 'string' },
        title: { type: 'string' },
        collection: { type: 'string' },
        file: { type: 'string' },
        modified: { type: 'string', description: 'ISO 8601.' },
        totalCharacters: { type: 'integer', minimum: 0 },
        headings: {
          type: 'array',
          items: { type: 'object', properties: HEADING, required: Object.keys(HEADING), additionalProperties: false },
        },
      },
      required: ['uri', 'title', 'collection', 'file', 'modified', 'totalCharacters', 'headings'],
      additionalProperties: false,
    },
    annotations: { title: 'Outline of a document', ...READS_ONLY },
  }),
  async call(args) {
    const found = await args.view.index.outline({ uri: args.text('uri'), collections: args.view.all() })
    const { uri, title, collection, file, modified, totalCharacters, headings } = found
    const lines = headings.map((one) => `${'  '.repeat(one.level - 1)}${one.title} (line ${one.line})`)
    const text = [`${title} (${file}, ${totalCharacters} characters)`, lines.join('\n') || 'It has no headings.']
    return result({ uri, title, collection, file, modified, totalCharacters, headings }, text.join('\n\n'))
  },
}
