/** The definition of a builtin tool: its description for models, its arguments, its preview and its call; and the paths that a call names. */
import { z } from 'zod'
import { ParleyError, isParleyError } from '../../../errors/parley-error.ts'
import type { Activity } from '../../../ports/values/activity.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Processes } from '../../../ports/process.ts'
import type { OwnPrograms } from '../../../ports/values/own-programs.ts'
import type { SearchIndex } from '../../../ports/search.ts'
import type { Signal } from '../../../ports/values/signal.ts'
import type { ToolCallContext, Tool, ToolPreview, ToolRegistry, ToolResult } from '../../../ports/tools.ts'
import type { Checker } from '../../checking/checker.ts'
import { forModels } from '../../mcp/client/lists/model-schema.ts'
import type { DocumentIndexes } from '../documents/document-indexes.ts'
import type { MayReach } from '../fetch/reach.ts'
import type { SessionMemory } from '../memory.ts'
import type { CommandSandbox } from '../sandbox/sandbox.ts'
import { join } from 'node:path'
import { formatCount, failTool } from './result.ts'
import { gitReasonFor } from '../../../workspace/git-directory.ts'
import { pathAsGiven, openRoots, routeTo, pathFromFirstRoot, realPath } from '../../../workspace/resolve-in-roots.ts'
import type { PathRestriction, PathAccessFilter } from '../../../ports/values/path-access.ts'
/** Where tools of our own stand in lists of tools. */
const BUILTIN_SERVER = 'parley'

export interface ToolServices {
  readonly clock: Clock
  readonly processes: Processes
  readonly programs: OwnPrograms
  readonly sandbox: CommandSandbox
  /** Over all sessions. */
  readonly search: Pick<SearchIndex, 'search'>
  /** The documents of the sessions' directories. */
  readonly documents: Pick<DocumentIndexes, 'open' | 'release'>
  /** Runs patterns in threads of their own. */
  readonly checker: Pick<Checker, 'findLines'>
  readonly activity: Activity
  /** Which addresses pages may come from; by default those of the public network. */
  readonly mayReach?: MayReach
}

/** The MCP servers of the session, as its other tools have them. */
export type ServersOfSession = Pick<ToolRegistry, 'list' | 'read' | 'ready'>

/** The context of a preview, which has no effects. */
export interface PreviewContext {
  readonly caller: Pick<ToolCallContext, 'sessionId' | 'roots' | 'client'>
  readonly memory: SessionMemory
  readonly services: ToolServices
  readonly servers: ServersOfSession
}

export interface ToolCall extends PreviewContext {
  readonly caller: ToolCallContext
  /** Aborts when the call is cancelled. */
  readonly signal: Signal
}

interface ToolDefinition<Schema extends z.ZodType> {
  readonly name: string
  readonly title: string
  /** For a model: the effect of the tool, when to use it, and its result. */
  readonly description: string
  readonly arguments: Schema
  readonly kind: ToolPreview['kind']
  readonly readOnly: boolean
  /** More than its kind. May throw: then there is nothing more to say. */
  preview?(args: z.infer<Schema>, looking: PreviewContext): Promise<Partial<ToolPreview>> | Partial<ToolPreview>
  /** An error becomes the result of the call. */
  run(args: z.infer<Schema>, call: ToolCall): Promise<ToolResult>
}

export interface BuiltinTool {
  readonly tool: Tool
  /** Never throws. */
  preview(args: unknown, looking: PreviewContext): Promise<ToolPreview>
  /** Throws TOOL_ARGUMENTS, and what goes wrong. */
  run(args: unknown, call: ToolCall): Promise<ToolResult>
}

export function defineTool<Schema extends z.ZodType>(definition: ToolDefinition<Schema>): BuiltinTool {
  const { name, title, kind } = definition
  const parse = (args: unknown) => definition.arguments.safeParse(withoutNulls(args))
  return {
    tool: toolOf(definition),
    async preview(args, looking) {
      const parsed = parse(args)
      if (!parsed.success) return { title, kind, cannotRunReason: argumentsError(name, parsed.error).message }
      if (definition.preview === undefined) return { title, kind }
      try {
        return { title, kind, ...(await definition.preview(parsed.data, looking)) }
      } catch (error) {
        return { title, kind, ...cannotRunBy(error) }
      }
    },
    async run(args, call) {
      const parsed = parse(args)
      if (!parsed.success) throw argumentsError(name, parsed.error)
      return await definition.run(parsed.data, call)
    },
  }
}

function toolOf({ name, title, description, arguments: schema, readOnly }: ToolDefinition<z.ZodType>): Tool {
  const inputSchema = schemaOf(schema)
  const fit = forModels(inputSchema)
  return {
    name,
    serverToolName: name,
    title,
    description,
    inputSchema,
    ...('schema' in fit ? { modelSchema: { ...fit.schema, additionalProperties: false } } : {}),
    server: BUILTIN_SERVER,
    builtin: true,
    readOnly,
    definitionHash: `${BUILTIN_SERVER}:${name}`,
  }
}

/** Without what says nothing: a bound that every number keeps. */
function schemaOf(schema: z.ZodType): Readonly<Record<string, unknown>> {
  const { $schema: _dialect, ...plain } = z.toJSONSchema(schema, { io: 'input' })
  const text = JSON.stringify(plain, (key, value: unknown) =>
    /^(?:min|max)imum$/u.test(key) && Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER ? undefined : value,
  )
  return JSON.parse(text) as Readonly<Record<string, unknown>>
}

/** Models fill in what they have no value for. */
function withoutNulls(args: unknown): unknown {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return args ?? {}
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null))
}

/** Other errors may be temporary, so they do not block the call. */
export function cannotRunBy(error: unknown): Pick<ToolPreview, 'cannotRunReason'> {
  return isParleyError(error) ? { cannotRunReason: error.message } : {}
}

function argumentsError(tool: string, error: z.ZodError): ParleyError<'TOOL_ARGUMENTS'> {
  return new ParleyError('TOOL_ARGUMENTS', { tool, reason: problemsIn(error) })
}

function problemsIn({ issues }: z.ZodError): string {
  return issues
    .slice(0, 5)
    .map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`))
    .join('; ')
}

export interface ResolvedPath {
  readonly real: string
  /** The path as clients and users write it. */
  readonly given: string
  /** From the first directory of the session on. */
  readonly shown: string
  /** Where it is, and the way that was named where links lead from it to there: rules hold for both. */
  readonly paths: readonly string[]
}

/** Throws PATH_OUTSIDE_ROOTS. */
export async function resolvePath(path: string, { caller }: Pick<PreviewContext, 'caller'>): Promise<ResolvedPath> {
  const roots = await openRoots(caller.roots)
  const real = await realPath(path, roots)
  const { root, names } = routeTo(path, roots)
  const paths = [...new Set([real, join(root.real, ...names)])]
  return { real, given: pathAsGiven(real, roots), shown: pathFromFirstRoot(real, roots), paths }
}

/** For previews of writes: whether git executes the file. */
export async function gitReasonOf({ real }: ResolvedPath): Promise<Pick<ToolPreview, 'gitReason'>> {
  const gitReason = await gitReasonFor(real)
  return gitReason === undefined ? {} : { gitReason }
}

/** A link may lead elsewhere than when the call was permitted. */
export function assertPathAllowed(real: string, { caller: { pathAccess } }: ToolCall): void {
  const restriction = pathAccess(real)
  if (restriction === undefined) return
  if (restriction === 'denied') failTool('Not allowed: a rule denies this path.')
  failTool('Not allowed: this path is asked about, and leads elsewhere than when that was decided.')
}

/** Counts the paths that permission rules exclude from a directory walk. */
export interface ExclusionCounter {
  /** Whether this is left out; counts it if so. */
  readonly has: (real: string) => boolean
  /** Lines for the end of the result. */
  words(): readonly string[]
}

const NAME_IT = 'Name one as path to have it asked.'

const REASONS: readonly (readonly [bar: PathRestriction, why: string, advice: string])[] = [
  ['denied', 'rules deny them', ''],
  ['asked', 'they are asked about', ` ${NAME_IT}`],
  ['own', 'they are files of Parley itself', ` ${NAME_IT}`],
]

/** `isRead`: also excludes files that would need approval, because the tool shows their content and not only their names. */
export function countExclusions(
  pathAccess: PathAccessFilter,
  { isRead }: { readonly isRead: boolean },
): ExclusionCounter {
  const counts: Record<PathRestriction, number> = { denied: 0, asked: 0, own: 0 }
  return {
    has: (real) => {
      const bar = pathAccess(real)
      if (bar === undefined || (bar === 'asked' && !isRead)) return false
      counts[bar] += 1
      return true
    },
    words: () =>
      REASONS.flatMap(([bar, why, advice]) =>
        counts[bar] > 0 ? [`[Left out, because ${why}: ${formatCount(counts[bar])}.${advice}]`] : [],
      ),
  }
}
