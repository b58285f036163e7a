/** `find_files`: files by their names. */
import { z } from 'zod'
import { quotedName, walkTree } from '../../../workspace/walk.ts'
import { openRoots } from '../../../workspace/resolve-in-roots.ts'
import { pathTest } from './glob.ts'
import { countExclusions, defineTool, resolvePath, textResult } from '../toolset/tool.ts'
import { formatCount } from '../../../text/shorten.ts'

const MAX_FILES = 500
/** More levels than any directory tree has. */
export const UNLIMITED_DEPTH = 100

export const findFiles = defineTool({
  name: 'find_files',
  title: 'Find files',
  description:
    'Finds files by their names: "*.ts" at any depth, "src/**/*.test.ts" from the directory on, "{a,b}" for either. What .gitignore and .ignore name is left out unless asked for.',
  arguments: z.strictObject({
    pattern: z.string().min(1).max(500),
    path: z.string().min(1).optional().describe('The directory to look in. Default: the working directory.'),
    ignored: z.boolean().optional().describe('Also what is ignored. Default false.'),
  }),
  kind: 'search',
  readOnly: true,
  async preview({ pattern, path = '.' }, looking) {
    const { paths, given, shown } = await resolvePath(path, looking)
    const where = shown === '.' ? '' : ` in ${shown}`
    return { title: `Find ${pattern.slice(0, 80)}${where}`, locations: [{ path: given }], paths }
  },
  async run({ pattern, path = '.', ignored = false }, { caller, signal }) {
    const roots = await openRoots(caller.roots)
    const isWanted = pathTest(pattern)
    const left = countExclusions(caller.pathAccess, { isRead: false })
    const found: string[] = []
    await walkTree(path, { roots, depth: UNLIMITED_DEPTH, ignored, signal, passes: left.has }, async (met) => {
      if (met.kind === 'file' && isWanted(met.way)) found.push(quotedName(met.way))
      return found.length > MAX_FILES ? 'enough' : 'on'
    })
    if (found.length === 0)
      found.push(`No file matches ${pattern}${ignored ? '' : ' among those that are not ignored'}.`)
    if (found.length > MAX_FILES)
      found[MAX_FILES] = `[More than ${formatCount(MAX_FILES)} files: use a narrower pattern or a directory below.]`
    return textResult([...found, ...left.words()].join('\n'))
  },
})
