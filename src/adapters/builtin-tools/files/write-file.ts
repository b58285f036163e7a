/** `write_file`: a new file, or all of one that was read before. */
import { z } from 'zod'
import { onlyCrLf } from '../edit/apply.ts'
import { requireSeen } from '../edit/edit-file.ts'
import { type TextFile, newFile, openIfThere, saveText, editDiffOf } from './text-files.ts'
import { textLines } from './pages.ts'
import { defineTool, gitReasonOf, resolvePath, textResult } from '../toolset/tool.ts'
import { cannotRunBy } from '../toolset/tool-failure.ts'
import { formatCount } from '../../../text/shorten.ts'

export const writeFile = defineTool({
  name: 'write_file',
  title: 'Write file',
  description:
    'Makes a new file with the directories that it needs, or replaces all of a file that you have read. To change a part of a file use edit_file.',
  arguments: z.strictObject({
    path: z.string().min(1).describe('Absolute, or from the working directory on.'),
    content: z.string().describe('The whole text of the file.'),
  }),
  kind: 'edit',
  readOnly: false,
  async preview({ path, content }, looking) {
    const place = await resolvePath(path, looking)
    const { paths, given, shown } = place
    const known = { title: `Write ${shown}`, paths, locations: [{ path: given }], ...(await gitReasonOf(place)) }
    try {
      const former = await openIfThere(path, looking)
      if (former !== undefined) requireSeen(former, looking)
      return { ...known, content: editDiffOf(given, former?.text ?? null, content).content }
    } catch (error) {
      return { ...known, ...cannotRunBy(error) }
    }
  },
  async run({ path, content }, call) {
    const { real } = await resolvePath(path, call)
    return call.memory.files.alone(real, async () => {
      const former = await openIfThere(path, call)
      if (former !== undefined) requireSeen(former, call)
      // A mark of the byte order is no part of a text, wherever it comes from.
      const plain = content.replace(/^\uFEFF/u, '')
      const text = former === undefined ? plain : inTheSameLines(plain, former)
      const place = former ?? (await newFile(path, call))
      const file = { ...place, text, ...(former === undefined && { hasBom: plain !== content }) }
      await saveText(file, call)
      const { content: shown } = editDiffOf(file.path, former?.text ?? null, text)
      const verb = former === undefined ? 'Made' : 'Replaced'
      return textResult(`${verb} ${file.shown}: ${formatCount(textLines(text).length)} lines.`, {
        displayContent: shown,
      })
    })
  },
})

/** A file whose lines end with CR LF keeps them so. */
function inTheSameLines(content: string, { text }: TextFile): string {
  return onlyCrLf(text) && !content.includes('\r') ? content.replaceAll('\n', '\r\n') : content
}
