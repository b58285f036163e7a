/** `list_directory`: lists a directory and, to a depth, the directories below it. */
import { z } from 'zod'
import { type DirectoryEntry, quotedName, walkTree } from '../../../workspace/walk.ts'
import { openRoots } from '../../../workspace/resolve-in-roots.ts'
import { countExclusions, defineTool, resolvePath, textResult } from '../toolset/tool.ts'
import { formatCount } from '../../../text/shorten.ts'

/** Names that one answer holds. */
const MAX_NAMES = 1_000

export const listDirectory = defineTool({
  name: 'list_directory',
  title: 'List directory',
  description:
    'Lists a directory: one name per line, directories with a slash at the end, deeper ones indented. What .gitignore and .ignore name is left out unless asked for.',
  arguments: z.strictObject({
    path: z
      .string()
      .min(1)
      .optional()
      .describe('Absolute, or from the working directory on. Default: the working directory.'),
    depth: z.int().min(1).max(8).optional().describe('How many levels. Default 1.'),
    ignored: z.boolean().optional().describe('Also what is ignored. Default false.'),
  }),
  kind: 'read',
  readOnly: true,
  async preview({ path = '.' }, looking) {
    const { paths, given, shown } = await resolvePath(path, looking)
    return { title: `List ${shown}`, locations: [{ path: given }], paths }
  },
  async run({ path = '.', depth = 1, ignored = false }, { caller, signal }) {
    const roots = await openRoots(caller.roots)
    const left = countExclusions(caller.pathAccess, { isRead: false })
    const lines: string[] = []
    let unnameable = 0
    await walkTree(path, { roots, depth, ignored, signal, passes: left.has }, async (met) => {
      if (met.kind === 'unnameable') unnameable += met.count
      else lines.push(`${'  '.repeat(met.depth)}${entryLine(met)}`)
      return lines.length > MAX_NAMES ? 'enough' : 'on'
    })
    if (lines.length === 0) lines.push(ignored ? '[The directory is empty.]' : '[Nothing that is not ignored.]')
    if (lines.length > MAX_NAMES)
      lines[MAX_NAMES] = `[More than ${formatCount(MAX_NAMES)} names: list a directory below, or use find_files.]`
    if (unnameable > 0) lines.push(`[${formatCount(unnameable)} more with names that are not UTF-8.]`)
    return textResult([...lines, ...left.words()].join('\n'))
  },
})

const MARKS = { directory: '/', file: '', link: ' (link)', other: ' (no file)' }

function entryLine({ name, kind }: DirectoryEntry): string {
  return `${quotedName(name)}${MARKS[kind]}`
}
