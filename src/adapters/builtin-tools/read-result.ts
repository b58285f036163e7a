/** `read_result`: reads the part of an earlier call's long result that was left out. */
import { z } from 'zod'
import { allTextIn } from '../mcp/client/request/model-content.ts'
import { defineTool, textResult } from './toolset/tool.ts'
import { MAX_MODEL_CHARS } from './toolset/result-limits.ts'
import { failTool } from './toolset/tool-failure.ts'
import { formatCount } from '../../text/shorten.ts'

/** The note about what is left takes a little room too. */
const MAX_PAGE_CHARS = MAX_MODEL_CHARS - 500

export const readResult = defineTool({
  name: 'read_result',
  title: 'Read on in a result',
  description: 'Reads on in the result of an earlier tool call that was too long to be given whole.',
  arguments: z.strictObject({
    toolCallId: z.string().min(1).describe('As the result that was cut names it.'),
    offset: z.int().min(0).optional().describe('The character to begin with. Default 0.'),
    limit: z
      .int()
      .min(1)
      .max(MAX_PAGE_CHARS)
      .optional()
      .describe(`How many characters. Default and at most ${MAX_PAGE_CHARS}.`),
  }),
  kind: 'read',
  readOnly: true,
  preview: () => ({ title: 'Read on in a result' }),
  async run({ toolCallId, offset = 0, limit = MAX_PAGE_CHARS }, { caller }) {
    const content = await caller.resultOf(toolCallId)
    if (content === undefined)
      return failTool(`There is no result of a call ${JSON.stringify(toolCallId.slice(0, 100))}.`)
    const text = allTextIn(content)
    const page = text.slice(offset, offset + limit)
    const end = offset + page.length
    if (page === '')
      return failTool(
        `The result has ${formatCount(text.length)} characters; there are none from ${formatCount(offset)} on.`,
      )
    const more = end < text.length ? `; read on with offset=${end}` : ''
    return textResult(
      `${page}\n[Characters ${formatCount(offset)}–${formatCount(end)} of ${formatCount(text.length)}${more}]`,
    )
  },
})
