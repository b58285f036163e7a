/**
 * A builtin tool: its description for models, its arguments, its preview, its call and its result; how those of a session stand
 * beside the tools of its MCP servers; and the paths that a call names.
 */
import { z } from 'zod'
import { onAbort } from '../../../async/abort.ts'
import { withTimeout } from '../../../async/with-timeout.ts'
import { ParleyError, fail, isParleyError } from '../../../errors/parley-error.ts'
import type { AbortSource, Signal } from '../../../ports/values/signal.ts'
import type {
  Tool,
  ToolCallContext,
  ToolCallOptions,
  ToolList,
  ToolPreview,
  ToolRegistry,
  ToolResult,
} from '../../../ports/tools.ts'
import { forModels } from '../../mcp/client/lists/model-schema.ts'
import { type SessionMemory, openSessionMemory } from '../memory.ts'
import { join } from 'node:path'
import type { ToolServices } from './tool-services.ts'
import { argumentsError, cannotRunBy, failTool, failedResult } from './tool-failure.ts'
import { MAX_KEPT_CHARS, MAX_MODEL_CHARS } from './result-limits.ts'
import { formatCount, shortenMiddle } from '../../../text/shorten.ts'
import type { TextContent } from '../../../ports/values/content.ts'
import { gitReasonFor } from '../../../workspace/git-directory.ts'
import { pathAsGiven, openRoots, routeTo, pathFromFirstRoot, realPath } from '../../../workspace/resolve-in-roots.ts'
import type { PathRestriction, PathAccessFilter } from '../../../ports/values/path-access.ts'
/** Where tools of our own stand in lists of tools. */
const BUILTIN_SERVER = 'parley'

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

/** Its schemas are made when a model or a client first asks for them: that takes longer than all else of a short start. */
function toolOf({ name, title, description, arguments: schema, readOnly }: ToolDefinition<z.ZodType>): Tool {
  let made: ReturnType<typeof schemasOf> | undefined
  const schemas = () => (made ??= schemasOf(schema))
  return {
    name,
    serverToolName: name,
    title,
    description,
    get inputSchema() {
      return schemas().inputSchema
    },
    get modelSchema() {
      return schemas().modelSchema
    },
    server: BUILTIN_SERVER,
    builtin: true,
    readOnly,
    definitionHash: `${BUILTIN_SERVER}:${name}`,
  }
}

function schemasOf(schema: z.ZodType) {
  const inputSchema = schemaOf(schema)
  const fit = forModels(inputSchema)
  return {
    inputSchema,
    modelSchema: { ...('schema' in fit ? fit.schema : { type: 'object' }), additionalProperties: false },
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

export function textResult(text: string, more: Partial<ToolResult> = {}): ToolResult {
  return { content: [textBlock(text)], isError: false, ...more }
}

/** A long text: kept up to a limit, its beginning and its end for the model, with how to read what lies between. */
export function longResult(text: string, toolCallId: string, more: Partial<ToolResult> = {}): ToolResult {
  const kept = shortenMiddle(text, MAX_KEPT_CHARS, (left) => `[${formatCount(left)} characters were not kept.]`)
  if (kept.length <= MAX_MODEL_CHARS) return textResult(kept, more)
  const advice = (left: number, from: number) =>
    `[${formatCount(left)} characters are left out here. Read them with read_result: toolCallId "${toolCallId}", offset ${from}.]`
  return textResult(kept, { modelContent: [textBlock(shortenMiddle(kept, MAX_MODEL_CHARS, advice))], ...more })
}

function textBlock(text: string): TextContent {
  return { type: 'text', text }
}

/** A cancelled call may take so long to end by itself. */
const CANCEL_GRACE_MS = 1_500

/** The builtin tools of all sessions. What a session has beside them lasts as long as one of its registries is open. */
export class BuiltinToolsets {
  readonly #services: ToolServices
  readonly #tools: readonly BuiltinTool[]
  readonly #sessions = new Map<string, OpenSession>()

  constructor(services: ToolServices, tools: readonly BuiltinTool[]) {
    this.#services = services
    this.#tools = tools
  }

  /** One more registry of this session: the builtin tools, then those of its MCP servers. */
  open(session: string, servers: ToolRegistry): ToolRegistry {
    const joined = this.#sessions.get(session) ?? { memory: openSessionMemory(), registries: 0 }
    this.#sessions.set(session, joined)
    joined.registries += 1
    const around = { memory: joined.memory, services: this.#services, servers, tools: this.#tools }
    return new Toolset(session, around, () => this.#leave(session, joined))
  }

  /** The commands that a session runs end when its last registry is closed. */
  async #leave(session: string, joined: OpenSession): Promise<void> {
    joined.registries -= 1
    if (joined.registries > 0) return
    this.#sessions.delete(session)
    await Promise.all([joined.memory.close(), this.#services.documents.release(joined.memory)])
  }
}

interface OpenSession {
  readonly memory: SessionMemory
  registries: number
}

interface Around extends Omit<PreviewContext, 'caller'> {
  readonly servers: ToolRegistry
  readonly tools: readonly BuiltinTool[]
}

const ENDED = 'its session is closing'

/** The builtin tools stand before those of the MCP servers; calls go to whichever has the tool. */
class Toolset implements ToolRegistry {
  readonly #session: string
  readonly #around: Around
  readonly #leave: () => Promise<void>
  /** Aborts when the registry closes, and with it the calls that still run. */
  readonly #closing: AbortSource
  readonly #running = new Set<Promise<unknown>>()
  #isDraining = false
  #released: Promise<void> | undefined
  /** The same snapshot for the same list, so that a caller can compare snapshots to detect a change. */
  readonly #joined = new WeakMap<ToolList, ToolList>()

  constructor(session: string, around: Around, leave: () => Promise<void>) {
    this.#session = session
    this.#around = around
    this.#leave = leave
    this.#closing = around.services.clock.abortSource()
  }

  list(): ToolList {
    return this.#withTools(this.#around.servers.list())
  }

  async ready(limitMs: number, signal: Signal): Promise<ToolList> {
    return this.#withTools(await this.#around.servers.ready(limitMs, signal))
  }

  async preview(name: string, args: unknown, caller: PreviewContext['caller']): Promise<ToolPreview> {
    const tool = this.#tool(name)
    if (tool === undefined) return this.#around.servers.preview(name, args, caller)
    this.#around.services.activity.began(`to look at a call of ${name} in session ${this.#session}`)
    return tool.preview(args, { ...this.#around, caller })
  }

  /** Every failure but TOOL_ARGUMENTS, TOOL_TIMEOUT, TOOL_CANCELLED, TOOL_NOT_RUN and TOOL_LOST is a result. */
  async call(name: string, args: unknown, options: ToolCallOptions): Promise<ToolResult> {
    const tool = this.#tool(name)
    if (tool === undefined) return this.#around.servers.call(name, args, options)
    if (this.#isDraining) fail('TOOL_NOT_RUN', { tool: name, reason: ENDED })
    const running = this.#run(tool, args, options)
    this.#running.add(running)
    try {
      return await running
    } catch (error) {
      // The caller did not cancel it: the call was cut off, and may have run.
      const isCut = isParleyError(error, 'TOOL_CANCELLED') && !options.signal.aborted
      if (isCut) fail('TOOL_LOST', { tool: name, reason: ENDED }, error)
      throw error
    } finally {
      this.#running.delete(running)
    }
  }

  async #run(tool: BuiltinTool, args: unknown, options: ToolCallOptions): Promise<ToolResult> {
    const { name } = tool.tool
    const { caller, signal, timeoutMs } = options
    if (caller === undefined) return fail('TOOL_NOT_RUN', { tool: name, reason: 'it works only within a turn' })
    const { activity, clock } = this.#around.services
    activity.began(`to call ${name} in session ${this.#session}`)
    const bounds = { clock, timeoutMs, signals: [signal, this.#closing.signal] }
    return runWithTimeout(name, bounds, (own) => tool.run(args, { ...this.#around, caller, signal: own }))
  }

  read(...asked: Parameters<ToolRegistry['read']>): ReturnType<ToolRegistry['read']> {
    return this.#around.servers.read(...asked)
  }

  prompt(...asked: Parameters<ToolRegistry['prompt']>): ReturnType<ToolRegistry['prompt']> {
    return this.#around.servers.prompt(...asked)
  }

  complete(...asked: Parameters<ToolRegistry['complete']>): ReturnType<ToolRegistry['complete']> {
    return this.#around.servers.complete(...asked)
  }

  onChange(listener: (list: ToolList) => void): () => void {
    return this.#around.servers.onChange((list) => listener(this.#withTools(list)))
  }

  async drain(): Promise<void> {
    this.#isDraining = true
    await Promise.all([Promise.allSettled(this.#running), this.#around.servers.drain()])
    await this.close()
  }

  async close(): Promise<void> {
    this.#isDraining = true
    this.#closing.abort(ENDED)
    this.#released ??= this.#leave()
    await Promise.all([this.#around.servers.close(), this.#released])
  }

  #tool(name: string): BuiltinTool | undefined {
    return this.#around.tools.find(({ tool }) => tool.name === name)
  }

  #withTools(list: ToolList): ToolList {
    if (this.#closing.signal.aborted) return list
    const known = this.#joined.get(list)
    if (known !== undefined) return known
    const own = this.#around.tools.map(({ tool }) => tool)
    const joined = Object.freeze({ ...list, tools: Object.freeze([...own, ...list.tools]) })
    this.#joined.set(list, joined)
    return joined
  }
}

interface Bounds {
  readonly clock: ToolServices['clock']
  readonly timeoutMs: number | undefined
  /** Of the call, and of the registry that closes. */
  readonly signals: readonly Signal[]
}

/** Ends soon after the call is cancelled or its time is over, even if the tool does not stop. */
function runWithTimeout(
  name: string,
  { clock, timeoutMs, signals }: Bounds,
  run: (signal: Signal) => Promise<ToolResult>,
): Promise<ToolResult> {
  async function runUntilAborted(own: Signal): Promise<ToolResult> {
    const aborted = new Promise<void>((resolve) => onAbort(own, resolve))
    const patienceOver = aborted.then(() => clock.sleep(CANCEL_GRACE_MS))
    const ended = await Promise.race([run(own).catch((error: unknown) => failedResult(error)), patienceOver])
    return ended ?? fail('TOOL_CANCELLED', { tool: name })
  }

  const timedOut = (): Error => new ParleyError('TOOL_TIMEOUT', { tool: name, ms: timeoutMs ?? 0 })
  return withTimeout(runUntilAborted, { clock, ms: timeoutMs, signals, timedOut })
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
