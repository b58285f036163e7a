/** `edit_file`: exact replacements in a file that was read before. */
import { z } from 'zod'
import type { ToolPreview } from '../../../ports/tools.ts'
import { applyEdits } from './apply.ts'
import { type TextFile, openText, saveText, editDiffOf } from '../files/text-files.ts'
import {
  type PreviewContext,
  type ResolvedPath,
  assertPathAllowed,
  defineTool,
  gitReasonOf,
  resolvePath,
  textResult,
} from '../toolset/tool.ts'
import { cannotRunBy, failTool } from '../toolset/tool-failure.ts'
import { formatCount } from '../../../text/shorten.ts'

const edit = z.strictObject({
  old_text: z.string().describe('What stands there now, exactly, with its whitespace. It must occur once.'),
  new_text: z.string().describe('What stands there afterwards.'),
  replace_all: z.boolean().optional().describe('Every occurrence. Default false.'),
})

export const editFile = defineTool({
  name: 'edit_file',
  title: 'Edit file',
  description:
    'Replaces text in a file that you have read. Several edits are made one after the other, all of them or none. Refused when the file has changed since you read it.',
  arguments: z.strictObject({
    path: z.string().min(1).describe('Absolute, or from the working directory on.'),
    edits: z.array(edit).min(1).max(100),
  }),
  kind: 'edit',
  readOnly: false,
  async preview({ path, edits }, looking) {
    const place = await resolvePath(path, looking)
    const { paths, given, shown } = place
    const known = { title: `Edit ${shown}`, paths, locations: [{ path: given }], ...(await gitReasonOf(place)) }
    return { ...known, ...(await changeOf(place, looking, (text) => applyEdits(text, edits).text)) }
  },
  async run({ path, edits }, call) {
    const { real } = await resolvePath(path, call)
    return call.memory.files.alone(real, async () => {
      const file = await openText(path, call)
      assertPathAllowed(file.real, call)
      requireSeen(file, call)
      const { text, places } = applyEdits(file.text, edits)
      await saveText({ ...file, text }, call)
      const { content } = editDiffOf(file.path, file.text, text)
      return textResult(`Edited ${file.shown} in ${places === 1 ? 'one place' : `${formatCount(places)} places`}.`, {
        displayContent: content,
      })
    })
  },
})

/** The diff of an edit, or why it cannot be made. */
async function changeOf(
  place: ResolvedPath,
  looking: PreviewContext,
  change: (text: string) => string,
): Promise<Pick<ToolPreview, 'content' | 'locations' | 'cannotRunReason'>> {
  try {
    const file = await openText(place.real, looking)
    requireSeen(file, looking)
    const { path, text } = file
    const { content, line } = editDiffOf(path, text, change(text))
    return { content, locations: [{ path, line }] }
  } catch (error) {
    return cannotRunBy(error)
  }
}

/** A session may only overwrite the text that it has read: a change by another program is not undone unnoticed. */
export function requireSeen({ real, text, shown }: TextFile, { memory }: PreviewContext): void {
  const isAsSeen = memory.files.isAsSeen(real, text)
  if (isAsSeen === undefined) failTool(`Read ${shown} with read_file first. Nothing was changed.`)
  if (!isAsSeen) failTool(`${shown} has changed since you read it. Read it again. Nothing was changed.`)
}
