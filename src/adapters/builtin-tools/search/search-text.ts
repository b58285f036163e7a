/** `search_text`: lines of files that match a pattern. */
import { z } from 'zod'
import { bytesAt } from '../../../workspace/files.ts'
import { type Root, openRoots, routeTo, withResolvedPath, placeIn } from '../../../workspace/resolve-in-roots.ts'
import { type TreeEntry, walkTree, quotedName } from '../../../workspace/walk.ts'
import { UNLIMITED_DEPTH } from './find-files.ts'
import { candidateFiles, literalIn } from './candidates.ts'
import { pathTest } from './glob.ts'
import { CheckTooLong } from '../../checking/checker.ts'
import type { FoundLine } from '../../checking/messages.ts'
import { decode } from '../../../workspace/encoding.ts'
import {
  type ExclusionCounter,
  type ToolCall,
  assertPathAllowed,
  countExclusions,
  defineTool,
  longResult,
  resolvePath,
} from '../toolset/tool.ts'
import { failTool } from '../toolset/tool-failure.ts'
import { formatCount } from '../../../text/shorten.ts'

const DEFAULT_LIMIT = 100
/** Bytes of a file that is searched. */
const MAX_FILE_BYTES = 8 * 1024 * 1024
/** Milliseconds of a search. */
const SEARCH_TIMEOUT_MS = 60_000

const schema = z.strictObject({
  pattern: z
    .string()
    .min(1)
    .max(2_000)
    .describe('A regular expression in the words of JavaScript, tried on each line.'),
  path: z.string().min(1).optional().describe('A directory or a file. Default: the working directory.'),
  glob: z.string().min(1).max(500).optional().describe('Only files whose names match, like "*.ts".'),
  literal: z.boolean().optional().describe('The pattern is a text as it stands. Default false.'),
  ignore_case: z.boolean().optional().describe('Default false.'),
  context: z.int().min(0).max(10).optional().describe('Lines to show before and after each match. Default 0.'),
  limit: z.int().min(1).max(1_000).optional().describe(`How many matching lines. Default ${DEFAULT_LIMIT}.`),
  ignored: z.boolean().optional().describe('Also what .gitignore and .ignore name. Default false.'),
})

type Arguments = z.infer<typeof schema>

export const searchText = defineTool({
  name: 'search_text',
  title: 'Search text',
  description:
    'Finds lines of files that match a regular expression and gives them as path:line:text. What .gitignore and .ignore name is left out unless asked for.',
  arguments: schema,
  kind: 'search',
  readOnly: true,
  async preview({ pattern, path = '.' }, looking) {
    const { paths, given, shown } = await resolvePath(path, looking)
    const where = shown === '.' ? '' : ` in ${shown}`
    return { title: `Search for ${pattern.slice(0, 80)}${where}`, locations: [{ path: given }], paths }
  },
  async run(args, call) {
    const { pattern, literal = false, ignore_case: ignoresCase = false, limit = DEFAULT_LIMIT } = args
    const search: Search = {
      args,
      call,
      pattern: patternOf(pattern, { isLiteral: literal, ignoresCase }),
      limit,
      lines: [],
      matches: 0,
      tooLarge: 0,
      began: call.services.clock.monotonicNow(),
      left: countExclusions(call.caller.pathAccess, { isRead: true }),
    }
    await searchIn(search)
    return longResult(resultText(search), call.caller.toolCallId)
  },
})

interface Search {
  readonly args: Arguments
  readonly call: ToolCall
  readonly pattern: Pattern
  readonly limit: number
  readonly lines: string[]
  matches: number
  tooLarge: number
  readonly began: number
  readonly left: ExclusionCounter
}

async function searchIn(search: Search): Promise<void> {
  const { path = '.', ignored = false, glob } = search.args
  const { caller, signal } = search.call
  const roots = await openRoots(caller.roots)
  const isFile = await withResolvedPath(path, { roots }, async ({ found }) => found?.isFile() === true)
  if (isFile) return searchFile(path, roots, search)
  const candidates = await candidatesIn(path, search)
  const isWanted = glob === undefined ? () => true : pathTest(glob)
  await walkTree(path, { roots, depth: UNLIMITED_DEPTH, ignored, signal, passes: search.left.has }, async (met) => {
    if (met.kind !== 'file' || !isWanted(met.way) || candidates?.has(met.way) === false) return 'on'
    return searchEntry(met, roots, search)
  })
}

async function candidatesIn(path: string, { args, call }: Search): Promise<ReadonlySet<string> | undefined> {
  const { pattern, literal = false, ignore_case: ignoresCase = false, ignored = false } = args
  const needed = literalIn(pattern, literal)
  if (needed === undefined) return undefined
  const { real } = await resolvePath(path, call)
  const { processes, clock, programs } = call.services
  const program = await programs.find('rg', call.caller.roots)
  if (program === undefined) return undefined
  return candidateFiles({
    program,
    literal: needed,
    directory: real,
    ignoresCase,
    ignored,
    processes,
    clock,
    signal: call.signal,
  })
}

async function searchFile(path: string, roots: readonly Root[], search: Search): Promise<void> {
  await withResolvedPath(path, { roots }, async (place) => {
    assertPathAllowed(place.real, search.call)
    const bytes = await bytesAt(place, { roots, limit: MAX_FILE_BYTES })
    await searchBytes(bytes, routeTo(place.real, roots).names.join('/'), search)
  })
}

async function searchEntry(
  { held, name, way }: TreeEntry,
  roots: readonly Root[],
  search: Search,
): Promise<'on' | 'enough'> {
  const { clock } = search.call.services
  if (clock.monotonicNow() - search.began > SEARCH_TIMEOUT_MS)
    failTool('The search takes too long. Search a directory below, or with a glob.')
  const place = await placeIn(held, name)
  if (place.found !== undefined && place.found.size > MAX_FILE_BYTES) search.tooLarge += 1
  // It has gone meanwhile, may not be read, or is too large.
  const bytes = await bytesAt(place, { roots, limit: MAX_FILE_BYTES }).catch(() => undefined)
  if (bytes !== undefined) await searchBytes(bytes, way, search)
  return search.matches >= search.limit ? 'enough' : 'on'
}

async function searchBytes(bytes: Buffer, way: string, search: Search): Promise<void> {
  const decoded = decode(bytes)
  if (decoded === undefined) return
  const { signal, services } = search.call
  const { context: around = 0 } = search.args
  const job = { ...search.pattern, text: decoded.text, most: search.limit - search.matches, around }
  const found = await services.checker.findLines(job, search, signal).catch((error: unknown) => {
    if (!(error instanceof CheckTooLong)) throw error
    if (!error.isOwnFault) return failTool('Too many other searches are running. Search again later.')
    return failTool(`The pattern takes too long on ${way}. Write it without repeating what repeats, or set literal.`)
  })
  search.matches += found.filter(({ isMatch }) => isMatch).length
  search.lines.push(...matchLines(found, { way, around }))
}

function matchLines(found: readonly FoundLine[], { way, around }: { way: string; around: number }): readonly string[] {
  return found.flatMap(({ line, isMatch, text }, index) => {
    const isGap = around > 0 && index > 0 && line !== (found[index - 1]?.line ?? 0) + 1
    const mark = isMatch ? ':' : '-'
    const whole = `${quotedName(way)}${mark}${line}${mark}${text}`
    return isGap ? ['--', whole] : [whole]
  })
}

function resultText({ lines, matches, limit, tooLarge, args, left }: Search): string {
  const all = matches === 0 ? [`No line matches ${args.pattern.slice(0, 200)}.`] : [...lines]
  if (matches >= limit)
    all.push(`[There may be more than ${formatCount(limit)} lines: narrow the search, or raise limit.]`)
  if (tooLarge > 0)
    all.push(`[Not searched: ${formatCount(tooLarge)} files of more than ${formatCount(MAX_FILE_BYTES)} bytes.]`)
  return [...all, ...left.words()].join('\n')
}

export interface Pattern {
  readonly source: string
  readonly flags: string
}

/** Throws what is wrong with it. */
function patternOf(text: string, { isLiteral, ignoresCase }: { isLiteral: boolean; ignoresCase: boolean }): Pattern {
  const source = isLiteral ? text.replaceAll(/[.*+?^${}()|[\]\\/]/gu, '\\$&') : text
  const flags = ignoresCase ? 'iu' : 'u'
  const problem = problemOf({ source, flags })
  if (problem === undefined) return { source, flags }
  // Escapes that mean nothing are only forgiven without the `u`.
  const plain = { source, flags: flags.replace('u', '') }
  if (problemOf(plain) === undefined) return plain
  return failTool(
    `The pattern is no regular expression: ${problem}. Mend it, or set literal to look for the text as it is.`,
  )
}

function problemOf({ source, flags }: Pattern): string | undefined {
  try {
    RegExp(source, flags)
    return undefined
  } catch (error) {
    return (error as Error).message.replace(/^Invalid regular expression: /u, '')
  }
}
