/** The MCP tools of one session: one current list over all of its servers, and the calls to them. */
import { waitAtMost } from '../../async/with-timeout.ts'
import { fail, isParleyError, reasonOf } from '../../errors/parley-error.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Signal } from '../../ports/values/signal.ts'
import type {
  CompletionRequest,
  ToolCallOptions,
  ToolList,
  ToolPreview,
  ToolRegistry,
  Tool,
  PromptTemplate,
  Resource,
  ResourceTemplate,
} from '../../ports/tools.ts'
import type { CallOptions, ServerConnection, ServerOffer, ServerPrompt, ServerTool } from '../mcp/host/mcp-types.ts'
import { LOG_IN } from '../mcp/host/login-tool.ts'
import { registryName, registryPrefix } from './names.ts'
import type { ServerLease } from '../mcp/host/pool.ts'
import { withInputRounds } from '../mcp/host/input-required-loop.ts'
import { limitsFor } from '../mcp/host/server-config.ts'
import type { McpServerLifecycle } from '../mcp/host/mcp-server-lifecycle.ts'
import type { ToolKind } from '../../ports/values/content.ts'

interface RegistryOptions {
  readonly clock: Clock
  /** Leases each server; `changed` is called when its state or offer changes. */
  readonly lease: (changed: () => void) => readonly ServerLease[]
  /** How long a call waits for a server that is still connecting. */
  readonly connectWaitMs: number
  /** Called when the registry closes. */
  readonly onClose?: () => void
}

export class McpToolRegistry implements ToolRegistry {
  readonly #clock: Clock
  readonly #connectWaitMs: number
  readonly #onClose: () => void
  readonly #listeners = new Set<(list: ToolList) => void>()
  readonly #leases: readonly ServerLease[]
  readonly #servers: readonly McpServerLifecycle[]
  readonly #calls = new InFlightCalls()
  /** How long each connecting server was already waited for: it is not waited for that long again. */
  readonly #waitedMs = new Map<McpServerLifecycle, number>()
  #list: ToolList
  /** While the servers are started no list is built: one for each of many servers would take long. */
  #isStarting = true
  #isClosed = false
  #gone: Promise<void> | undefined

  constructor({ clock, lease, connectWaitMs, onClose = () => undefined }: RegistryOptions) {
    this.#clock = clock
    this.#connectWaitMs = connectWaitMs
    this.#onClose = onClose
    this.#leases = lease(() => this.#changed())
    this.#servers = this.#leases.map(({ server }) => server)
    this.#list = snapshotOf(this.#servers, 1)
    for (const server of this.#servers) server.start()
    this.#isStarting = false
    this.#changed()
  }

  list(): ToolList {
    return this.#list
  }

  async ready(limitMs: number, signal: Signal): Promise<ToolList> {
    if (this.#isClosed) return this.#list
    for (const server of this.#servers) if (server.status().state === 'ready') this.#waitedMs.delete(server)
    for (const server of this.#servers) server.prepare()
    const worthIt = this.#servers.filter((server) => (this.#waitedMs.get(server) ?? -1) < limitMs)
    await settled(worthIt, { clock: this.#clock, limitMs, signal })
    if (!signal.aborted) {
      const late = this.#servers.filter((server) => server.status().state === 'connecting')
      for (const server of late) this.#waitedMs.set(server, Math.max(limitMs, this.#waitedMs.get(server) ?? 0))
    }
    return this.#list
  }

  preview(name: string, args: unknown): Promise<ToolPreview> {
    const tool = this.#list.tools.find((one) => one.name === name)
    const title = tool && titleOf(tool, args)
    return Promise.resolve({ kind: toolKind(tool), ...(title !== undefined && { title }) })
  }

  call(name: string, args: unknown, options: ToolCallOptions): ReturnType<ToolRegistry['call']> {
    return this.#calls.run(name, options, async (own) => {
      const { server, item } = await this.#find(name, own, 'tools')
      const given = { ...own, name, ...limitsFor(item.serverToolName, server.config.rules, own) }
      if (item === LOG_IN) return await server.logIn(given)
      // Each round looks up the connection, so the user's input is not lost with a connection.
      return await withInputRounds(given, this.#clock, (round) =>
        server.use(round, (connection) => connection.call(item, args, round)),
      )
    })
  }

  read(server: string, uri: string, options: ToolCallOptions): ReturnType<ToolRegistry['read']> {
    const what = `the resource ${uri.slice(0, 200)}`
    return this.#ask({ server, what }, options, (connection, own) => connection.read(uri, own))
  }

  async prompt(
    name: string,
    args: Readonly<Record<string, string>>,
    options: ToolCallOptions,
  ): ReturnType<ToolRegistry['prompt']> {
    const what = `the prompt ${name}`
    const { server, item } = await this.#find(name, options, 'prompts').catch(() =>
      fail('MCP_REQUEST', { server: name.split('__', 1)[0] ?? name, what, reason: 'it has no such prompt now' }),
    )
    const { label } = server.config
    return await this.#ask({ server: label, what }, options, (connection, own) =>
      connection.prompt(item.serverPromptName, args, own),
    )
  }

  complete(server: string, request: CompletionRequest, options: ToolCallOptions): Promise<readonly string[]> {
    return this.#ask({ server, what: 'suggestions' }, options, (connection, own) => connection.complete(request, own))
  }

  onChange(listener: (list: ToolList) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  async drain(): Promise<void> {
    await this.#calls.finish()
    await this.close()
  }

  close(): Promise<void> {
    this.#gone ??= this.#leave()
    return this.#gone
  }

  async #leave(): Promise<void> {
    this.#isClosed = true
    this.#onClose()
    this.#calls.end()
    const gone = Promise.all(this.#leases.map((one) => one.release()))
    this.#changed()
    await gone
  }

  #changed(): void {
    if (this.#isStarting) return
    const version = this.#list.version + 1
    this.#list = this.#isClosed ? lastSnapshot(this.#servers, version) : snapshotOf(this.#servers, version)
    for (const listener of this.#listeners) listener(this.#list)
  }

  /** Waits for a server that is not connected yet, if the name begins with that server's prefix. */
  async #find<Kind extends 'tools' | 'prompts'>(name: string, options: ToolCallOptions, kind: Kind) {
    const found = lookUp(this.#servers, name, kind)
    if (found !== undefined) return found
    const candidates = this.#servers.filter((server) => name.startsWith(registryPrefix(server.config.label)))
    const limits = { clock: this.#clock, limitMs: options.timeoutMs ?? this.#connectWaitMs, signal: options.signal }
    await settled(candidates, limits)
    return lookUp(this.#servers, name, kind) ?? fail('TOOL_UNKNOWN', { tool: name })
  }

  /** Requests without effects fail with MCP_REQUEST only. */
  async #ask<Result>(asked: RequestedItem, options: ToolCallOptions, work: Work<Result>): Promise<Result> {
    try {
      return await this.#calls.run(asked.what, options, async (own) => {
        const server = this.#servers.find(({ config }) => config.label === asked.server)
        if (server === undefined) return fail('MCP_REQUEST', { ...asked, reason: 'there is no such server' })
        const given = { ...own, name: asked.what }
        return await server.use(given, (connection) => work(connection, given))
      })
    } catch (error) {
      if (isParleyError(error, 'MCP_REQUEST')) throw error
      return fail('MCP_REQUEST', { ...asked, reason: whyOf(error) }, error)
    }
  }
}

interface RequestedItem {
  readonly server: string
  readonly what: string
}

type Work<Result> = (connection: ServerConnection, options: CallOptions) => Promise<Result>

function whyOf(error: unknown): string {
  if (isParleyError(error, 'TOOL_TIMEOUT')) return `it did not answer within ${error.details.ms} ms`
  if (isParleyError(error, 'TOOL_CANCELLED')) return 'the request was cancelled'
  if (isParleyError(error, 'TOOL_NOT_RUN') || isParleyError(error, 'TOOL_LOST')) return error.details.reason
  return reasonOf(error).replace(/\.$/, '')
}

interface FoundItem<Item> {
  readonly server: McpServerLifecycle
  readonly item: Item
}

function lookUp<Kind extends 'tools' | 'prompts'>(
  servers: readonly McpServerLifecycle[],
  name: string,
  kind: Kind,
): FoundItem<ServerOffer[Kind][number]> | undefined {
  for (const server of servers) {
    const known: readonly ServerOffer[Kind][number][] = server.known()[kind]
    const item = known.find((one) => registryName(server.config.label, nameAtServer(one)) === name)
    if (item !== undefined) return { server, item }
  }
  return undefined
}

function nameAtServer(item: ServerOffer['tools' | 'prompts'][number]): string {
  return 'serverToolName' in item ? item.serverToolName : item.serverPromptName
}

interface WaitLimits {
  readonly clock: Clock
  readonly limitMs: number
  readonly signal: Signal
}

/** Resolves when none of the servers is connecting, when the limit is over, or when the signal aborts. */
async function settled(servers: readonly McpServerLifecycle[], { clock, limitMs, signal }: WaitLimits): Promise<void> {
  await waitAtMost(Promise.all(servers.map((server) => server.settled())), { clock, ms: limitMs, signals: [signal] })
}

function toolKind(tool: Pick<Tool, 'serverToolName' | 'readOnly'> | undefined): ToolKind {
  if (tool === undefined) return 'other'
  if (/search|find|query/iu.test(tool.serverToolName)) return 'search'
  if (/fetch|download/iu.test(tool.serverToolName)) return 'fetch'
  return tool.readOnly ? 'read' : 'other'
}

/** Characters of a query in the title of a call. */
const MAX_QUERY_CHARS = 80

/** Shows the query of a search; undefined for other calls. */
function titleOf({ title, server }: Pick<Tool, 'title' | 'server'>, args: unknown): string | undefined {
  const { query } = (args ?? {}) as { readonly query?: unknown }
  if (typeof query !== 'string' || query.trim() === '') return undefined
  const words = query.trim().replace(/\s+/gu, ' ')
  const said = words.length > MAX_QUERY_CHARS ? `${words.slice(0, MAX_QUERY_CHARS).replace(/\p{Cs}$/u, '')} …` : words
  return `${title}: “${said}” (${server})`
}

function snapshotOf(servers: readonly McpServerLifecycle[], version: number): ToolList {
  return frozen({
    version,
    tools: servers.flatMap((server) => server.offer().tools.map((tool) => toolOf(server, tool))),
    resources: servers.flatMap((server) => server.offer().resources.map((one): Resource => of(server, one))),
    templates: servers.flatMap((server) => server.offer().templates.map((one): ResourceTemplate => of(server, one))),
    prompts: servers.flatMap((server) => server.offer().prompts.map((one) => promptOf(server, one))),
    servers: servers.map((server) => server.status()),
  })
}

/** The list of a closed registry. Its servers may still run for another registry. */
function lastSnapshot(servers: readonly McpServerLifecycle[], version: number): ToolList {
  const closed = servers.map((server) => {
    const { name, title } = server.status()
    return { name, title, state: 'closed', tools: 0 } as const
  })
  return frozen({ version, tools: [], resources: [], templates: [], prompts: [], servers: closed })
}

function toolOf({ config }: McpServerLifecycle, tool: ServerTool): Tool {
  const { outputSchema: _, ...fields } = tool
  const { label: server } = config
  return { name: registryName(server, tool.serverToolName), ...fields, server, builtin: tool === LOG_IN }
}

function promptOf(server: McpServerLifecycle, prompt: ServerPrompt): PromptTemplate {
  return of(server, { name: registryName(server.config.label, prompt.serverPromptName), ...prompt })
}

function of<Item extends object>({ config }: McpServerLifecycle, item: Item): Item & { readonly server: string } {
  return { ...item, server: config.label }
}

function frozen(list: ToolList): ToolList {
  for (const part of Object.values(list)) Object.freeze(part)
  return Object.freeze(list)
}

type BoundedWork<Result> = (options: ToolCallOptions) => Promise<Result>

const ENDED = 'its session is closing'

/** The running calls of one registry, so that it can wait for them or cancel them without closing its servers. */
class InFlightCalls {
  readonly #open = new Map<AbortController, Promise<unknown>>()
  #isTaking = true

  /** Runs a call with a signal of its own. Throws TOOL_NOT_RUN after `finish` or `end`. */
  async run<Result>(name: string, options: ToolCallOptions, work: BoundedWork<Result>): Promise<Result> {
    if (!this.#isTaking) fail('TOOL_NOT_RUN', { tool: name, reason: ENDED })
    const own = new AbortController()
    const running = this.#bounded(own, options, work)
    this.#open.set(own, running)
    try {
      return await running
    } catch (error) {
      // The caller did not cancel it: the call was cut off, and may have run.
      const isCut = isParleyError(error, 'TOOL_CANCELLED') && !options.signal.aborted
      if (isCut) fail('TOOL_LOST', { tool: name, reason: ENDED }, error)
      throw error
    }
  }

  /** Accepts no more calls and resolves when the running ones have ended. */
  async finish(): Promise<void> {
    this.#isTaking = false
    await Promise.allSettled(this.#open.values())
  }

  /** Accepts no more calls and cancels the running ones. */
  end(): void {
    this.#isTaking = false
    for (const own of this.#open.keys()) own.abort(ENDED)
  }

  async #bounded<Result>(own: AbortController, options: ToolCallOptions, work: BoundedWork<Result>): Promise<Result> {
    const cancel = (): void => own.abort('cancelled')
    options.signal.addEventListener('abort', cancel, { once: true })
    if (options.signal.aborted) cancel()
    try {
      return await work({ ...options, signal: own.signal })
    } finally {
      options.signal.removeEventListener('abort', cancel)
      this.#open.delete(own)
    }
  }
}
