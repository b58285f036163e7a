/** `read_document`: the text of a document that `search_documents` found, also of PDF, Word and EPUB, which `read_file` cannot show. */
import { z } from 'zod'
import { excerptText } from '../../../docs-search/index/result-text.ts'
import { defineTool, longResult } from '../toolset/tool.ts'
import { MAX_MODEL_CHARS } from '../toolset/result-limits.ts'

const DEFAULT_CHARACTERS = 8_000
/** The position and the note about what follows take a little room, too. */
const MAX_CHARACTERS = MAX_MODEL_CHARS - 1_000

export const readDocument = defineTool({
  name: 'read_document',
  title: 'Read a document',
  description:
    'Reads a document that search_documents found, also PDF, Word and EPUB, from the line that the uri names (#L12), its section (#setup) or its start. With section only that section; with offset from there. Continue with the offset that the result names.',
  arguments: z.strictObject({
    uri: z.string().min(1).max(8_000).describe('uri of a search result.'),
    section: z.string().min(1).max(1_000).optional().describe('A heading, or several from the top: Setup > Linux.'),
    offset: z.int().min(0).optional().describe('In UTF-16 units from the start of the document.'),
    limit: z
      .int()
      .min(1)
      .max(MAX_CHARACTERS)
      .optional()
      .describe(`How many characters. Default ${DEFAULT_CHARACTERS}.`),
  }),
  kind: 'read',
  readOnly: true,
  preview: ({ uri }) => ({ title: `Read ${uri.slice(0, 120)}` }),
  async run({ uri, section, offset, limit = DEFAULT_CHARACTERS }, { caller, memory, services }) {
    const { index, scope } = await services.documents.open(caller.roots, memory)
    const part = { ...(section !== undefined && { section }), ...(offset !== undefined && { offset }) }
    const excerpt = await index.read({ ...scope, uri, limit, ...part })
    return longResult(excerptText(excerpt), caller.toolCallId, { structured: excerpt })
  },
})
