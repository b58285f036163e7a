/** `read_file`: a text in pages, or a picture. */
import { z } from 'zod'
import type { ToolResult } from '../../../ports/tools.ts'
import { assertPathAllowed } from '../toolset/path-rules.ts'
import { isText, openFile } from './files.ts'
import { amount, refuse, textResult } from '../toolset/result.ts'
import { natureOf, pictureType } from '../text/nature.ts'
import { pageOf } from '../text/pages.ts'
import { resolvePath } from '../toolset/resolve-path.ts'
import { defineTool } from '../toolset/tool.ts'

const LINES = 2_000
/** Bytes of a picture that a model takes. */
const LARGEST_PICTURE = 4 * 1024 * 1024

export const readFile = defineTool({
  name: 'read_file',
  title: 'Read file',
  description:
    'Reads a text file, or shows a picture (PNG, JPEG, GIF, WebP). Long files come in pages; the last line of a page says how to read on. Sees unsaved changes in the editor. Read a file before you edit it.',
  arguments: z.strictObject({
    path: z.string().min(1).describe('Absolute, or from the working directory on.'),
    line: z.int().min(1).optional().describe('The first line wanted, counted from 1. Default 1.'),
    column: z.int().min(1).optional().describe('The first character wanted of that line. Default 1.'),
    limit: z.int().min(1).optional().describe(`How many lines at most. Default ${LINES}.`),
  }),
  kind: 'read',
  readOnly: true,
  async preview({ path, line }, looking) {
    const { paths, shown, given } = await resolvePath(path, looking)
    const locations = [{ path: given, ...(line === undefined ? {} : { line }) }]
    return { title: `Read ${shown}`, locations, paths }
  },
  async run({ path, line = 1, column = 1, limit = LINES }, call) {
    const opened = await openFile(path, call)
    assertPathAllowed(opened.real, call)
    if (!isText(opened)) return picture(opened.shown, opened.bytes)
    call.memory.files.saw(opened.real, opened.text)
    return textResult(pageOf(opened.text, { line, column, limit }))
  },
})

function picture(shown: string, bytes: Buffer): ToolResult {
  const mimeType = pictureType(bytes)
  if (mimeType === undefined) return refuse(`${shown} is ${natureOf(bytes)}, which read_file cannot show as text.`)
  if (bytes.length > LARGEST_PICTURE)
    return refuse(
      `The picture ${shown} has ${amount(bytes.length)} bytes; at most ${amount(LARGEST_PICTURE)} can be shown.`,
    )
  return { content: [{ type: 'image', data: bytes.toString('base64'), mimeType }], isError: false }
}
