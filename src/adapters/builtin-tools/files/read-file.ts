/** `read_file`: a text in pages, or a picture. */
import { z } from 'zod'
import type { ToolResult } from '../../../ports/tools.ts'
import { isText, openTextFile } from './text-files.ts'
import { describeBinary, imageType } from '../../../workspace/file-type.ts'
import { filePageOf } from './pages.ts'
import { assertPathAllowed, defineTool, resolvePath, textResult } from '../toolset/tool.ts'
import { failTool } from '../toolset/tool-failure.ts'
import { formatCount } from '../../../text/shorten.ts'

const DEFAULT_LINES = 2_000
/** Bytes of a picture that a model takes. */
const MAX_IMAGE_BYTES = 4 * 1024 * 1024

export const readFile = defineTool({
  name: 'read_file',
  title: 'Read file',
  description:
    'Reads a text file, or shows a picture (PNG, JPEG, GIF, WebP). Long files come in pages; the last line of a page says how to read on. Sees unsaved changes in the editor. Read a file before you edit it.',
  arguments: z.strictObject({
    path: z.string().min(1).describe('Absolute, or from the working directory on.'),
    line: z.int().min(1).optional().describe('The first line wanted, counted from 1. Default 1.'),
    column: z.int().min(1).optional().describe('The first character wanted of that line. Default 1.'),
    limit: z.int().min(1).optional().describe(`How many lines at most. Default ${DEFAULT_LINES}.`),
  }),
  kind: 'read',
  readOnly: true,
  async preview({ path, line }, looking) {
    const { paths, shown, given } = await resolvePath(path, looking)
    const locations = [{ path: given, ...(line === undefined ? {} : { line }) }]
    return { title: `Read ${shown}`, locations, paths }
  },
  async run({ path, line = 1, column = 1, limit = DEFAULT_LINES }, call) {
    const opened = await openTextFile(path, call)
    assertPathAllowed(opened.real, call)
    if (!isText(opened)) return imageResult(opened.shown, opened.bytes)
    call.memory.files.saw(opened.real, opened.text)
    return textResult(filePageOf(opened.text, { line, column, limit }))
  },
})

function imageResult(shown: string, bytes: Buffer): ToolResult {
  const mimeType = imageType(bytes)
  if (mimeType === undefined)
    return failTool(`${shown} is ${describeBinary(bytes)}, which read_file cannot show as text.`)
  if (bytes.length > MAX_IMAGE_BYTES)
    return failTool(
      `The picture ${shown} has ${formatCount(bytes.length)} bytes; at most ${formatCount(MAX_IMAGE_BYTES)} can be shown.`,
    )
  return { content: [{ type: 'image', data: bytes.toString('base64'), mimeType }], isError: false }
}
