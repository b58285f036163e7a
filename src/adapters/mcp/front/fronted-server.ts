/** One MCP server of a session, served again to an agent in another process. */
import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type Tool as McpTool,
} from '@modelcontextprotocol/server'
import { waitAtMost } from '../../../async/with-timeout.ts'
import { isParleyError, reasonOf } from '../../../errors/parley-error.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { FrontedSession } from '../../../ports/mcp-front.ts'
import type { AbortSource, Signal } from '../../../ports/values/signal.ts'
import type { Tool, ToolCallOptions, ToolList, ToolProgress, ToolRegistry } from '../../../ports/tools.ts'
import type { ClientInfo } from '../host/mcp-types.ts'

/** How long a list waits for a server that is still connecting. It comes later as a change. */
const LIST_MS = 2000
/** How often a session that is being created is looked at. */
const CREATED_MS = 50

const REFUSED = Promise.resolve({ action: 'cancel' } as const)

export interface FrontedOptions {
  readonly clock: Clock
  readonly clientInfo: ClientInfo
  /**
   * The registry of a session as it is now: it changes with the servers that clients declare, and a session that is being
   * created has none yet.
   */
  readonly registryOf: (session: string) => ToolRegistry | undefined
  /** The names in the registry of the servers that a session has, of clients and of configuration files. */
  readonly namesOf: (session: Pick<FrontedSession, 'roots' | 'mcpServers'>) => readonly string[]
  /** Asks the user's rules about this call. */
  readonly decide: (call: FrontedCall) => Promise<CallDecision>
}

/** `ask` is for the user of an agent that asks nothing by itself. */
export type CallDecision =
  | { readonly decision: 'allow' }
  | { readonly decision: 'ask' }
  | { readonly decision: 'deny'; readonly sentence: string }

export interface FrontedCall {
  readonly session: string
  readonly roots: readonly string[]
  readonly tool: Tool
  readonly args: unknown
}

export class FrontedServer {
  /** One for each MCP session of the agent. */
  readonly server: Server
  /** The server's name in the registry. */
  readonly #name: string
  readonly #session: FrontedSession
  readonly #options: FrontedOptions
  #registry: ToolRegistry | undefined
  #stopListening = (): void => undefined
  /** The digest of the list that the agent has seen, or was notified to read again. */
  /** Empty before it was asked for a list. */
  #announced = ''
  readonly #over: AbortSource
  #isDeadTold = false

  constructor(name: string, session: FrontedSession, options: FrontedOptions) {
    this.#name = name
    this.#session = session
    this.#options = options
    this.#over = options.clock.abortSource()
    const { name: product, version } = options.clientInfo
    this.server = new Server(
      { name: `${product}:${name}`, version },
      {
        capabilities: {
          tools: { listChanged: true },
          resources: { listChanged: true },
          prompts: { listChanged: true },
        },
      },
    )
    this.#answerTools()
    this.#answerResources()
    this.#answerPrompts()
    this.#follow()
  }

  async close(): Promise<void> {
    this.#over.abort()
    this.#stopListening()
    this.#stopListening = () => undefined
    await this.server.close()
  }

  #answerTools(): void {
    this.server.setRequestHandler('tools/list', async (_, { mcpReq }) => {
      const { tools } = await this.#listed(mcpReq.signal)
      return { tools: tools.map(mcpTool) }
    })
    this.server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
      const token = params._meta?.progressToken
      const onProgress = (progress: ToolProgress): void => {
        if (token === undefined) return
        const sent = mcpReq.notify({ method: 'notifications/progress', params: { ...progress, progressToken: token } })
        sent.catch(() => undefined) // The agent has gone; its call ends by itself.
      }
      return await this.#call(params.name, params.arguments ?? {}, { signal: mcpReq.signal, onProgress })
    })
  }

  #answerResources(): void {
    this.server.setRequestHandler('resources/list', async (_, { mcpReq }) => {
      const { resources } = await this.#listed(mcpReq.signal)
      return { resources: resources.map((one) => named(one, { uri: one.uri, ...(one.size && { size: one.size }) })) }
    })
    this.server.setRequestHandler('resources/templates/list', async (_, { mcpReq }) => {
      const { templates } = await this.#listed(mcpReq.signal)
      return { resourceTemplates: templates.map((one) => named(one, { uriTemplate: one.uriTemplate })) }
    })
    this.server.setRequestHandler('resources/read', async ({ params }, { mcpReq }) => {
      const contents = await this.#now().read(this.#name, params.uri, { signal: mcpReq.signal }).catch(asProtocolError)
      return { contents: contents.map(plain) }
    })
  }

  #answerPrompts(): void {
    this.server.setRequestHandler('prompts/list', async (_, { mcpReq }) => {
      const { prompts } = await this.#listed(mcpReq.signal)
      return {
        prompts: prompts.map(({ serverPromptName: name, title, description, arguments: args }) => ({
          name,
          title,
          description,
          arguments: args.map((one) => ({ ...one })),
        })),
      }
    })
    this.server.setRequestHandler('prompts/get', async ({ params }, { mcpReq }) => {
      const prompt = this.#own().prompts.find(({ serverPromptName }) => serverPromptName === params.name)
      if (prompt === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `No prompt ${params.name}`)
      const { signal } = mcpReq
      const messages = await this.#now()
        .prompt(prompt.name, params.arguments ?? {}, { signal })
        .catch(asProtocolError)
      return { messages: messages.map(({ role, content }) => ({ role, content: plain(content) })) }
    })
  }

  async #call(name: string, args: unknown, options: ToolCallOptions): Promise<CallToolResult> {
    const asked = this.#session
    await this.#listed(options.signal)
    const tool = this.#own().tools.find(({ serverToolName }) => serverToolName === name)
    if (tool === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${name} now`)
    const { id: session, roots } = asked
    const decided = await this.#options.decide({ session, roots, tool, args })
    if (decided.decision === 'deny') return said(decided.sentence)
    const refused = decided.decision === 'ask' ? await asked.permit?.(tool, args) : undefined
    if (refused !== undefined) return said(refused)
    try {
      const onElicit: ToolCallOptions['onElicit'] = (question) => asked.elicit?.(question) ?? REFUSED
      const { content, structured, isError } = await this.#now().call(tool.name, args, { ...options, onElicit })
      const result: object = {
        content: content.map(plain),
        isError,
        ...(isObject(structured) && { structuredContent: structured }),
      }
      return result as CallToolResult
    } catch (error) {
      return said(reasonOf(error))
    }
  }

  /** Waits a little while for a server that is not ready yet, and tells the user once if it has failed. */
  async #listed(signal: Signal): Promise<OwnList> {
    const { clock } = this.#options
    if (!(await waitAtMost(this.#created(), { clock, ms: LIST_MS, signals: [signal] }))) return this.#notCreated()
    const registry = this.#now()
    void registry.ready(0, signal)
    if (this.#state()?.state === 'connecting') await this.#settled(registry, signal)
    const own = this.#own()
    this.#announced = digestOf(own)
    const status = this.#state()
    if (status?.state === 'failed' && !this.#isDeadTold) {
      this.#isDeadTold = true
      this.#session.notice(status.reason ?? `The MCP server ${this.#name} cannot be reached.`)
    }
    return own
  }

  /** True once the session has a registry, false if the agent leaves before that. */
  async #created(): Promise<boolean> {
    const { clock, registryOf } = this.#options
    while (registryOf(this.#session.id) === undefined && !this.#over.signal.aborted)
      await clock.sleep(CREATED_MS, this.#over.signal).catch(() => undefined)
    return !this.#over.signal.aborted
  }

  /** The agent looks again once there is more to see. */
  #notCreated(): OwnList {
    this.#announced = digestOf(NOTHING)
    void this.#created().then((isThere) => isThere && this.#changed())
    return NOTHING
  }

  async #settled(registry: ToolRegistry, signal: Signal): Promise<void> {
    let stop = (): void => undefined
    const settled = new Promise<void>((resolve) => {
      stop = registry.onChange(() => this.#state()?.state !== 'connecting' && resolve())
    })
    await waitAtMost(settled, { clock: this.#options.clock, ms: LIST_MS, signals: [signal] })
    stop()
  }

  /** Tells the agent of changes of the lists, in whichever registry they are now. */
  #follow(): void {
    const registry = this.#options.registryOf(this.#session.id)
    if (registry === this.#registry) return
    this.#stopListening()
    this.#registry = registry
    this.#stopListening = registry?.onChange(() => this.#changed()) ?? (() => undefined)
  }

  #changed(): void {
    this.#follow()
    if (this.#state()?.state === 'ready') this.#isDeadTold = false
    const digest = digestOf(this.#own())
    // If the agent never asked for the list, nothing changed for it.
    if (this.#announced === '' || digest === this.#announced) return
    this.#announced = digest
    const sending = [
      this.server.sendToolListChanged(),
      this.server.sendResourceListChanged(),
      this.server.sendPromptListChanged(),
    ]
    // Agents that do not listen list again when they start.
    for (const sent of sending) sent.catch(() => undefined)
  }

  #now(): ToolRegistry {
    this.#follow()
    if (this.#registry === undefined) throw new ProtocolError(ProtocolErrorCode.InternalError, 'The session is closed')
    return this.#registry
  }

  #own(): OwnList {
    const list = this.#now().list()
    const isOwn = ({ server }: { readonly server: string }): boolean => server === this.#name
    return {
      tools: list.tools.filter(isOwn),
      resources: list.resources.filter(isOwn),
      templates: list.templates.filter(isOwn),
      prompts: list.prompts.filter(isOwn),
    }
  }

  #state() {
    return this.#now()
      .list()
      .servers.find(({ name }) => name === this.#name)
  }
}

const NOTHING: OwnList = { tools: [], resources: [], templates: [], prompts: [] }

type OwnList = Pick<ToolList, 'tools' | 'resources' | 'templates' | 'prompts'>

function digestOf({ tools, resources, templates, prompts }: OwnList): string {
  return JSON.stringify([
    tools.map(({ name, definitionHash }) => [name, definitionHash]),
    resources,
    templates,
    prompts,
  ])
}

function mcpTool({ serverToolName: name, title, description, inputSchema, readOnly }: Tool): McpTool {
  const annotations = { title, readOnlyHint: readOnly }
  return { name, title, description, inputSchema: inputSchema as McpTool['inputSchema'], annotations }
}

function named<Place extends object>(
  { title, description, mimeType }: Pick<ToolList['templates'][number], 'title' | 'description' | 'mimeType'>,
  place: Place,
) {
  return { ...place, name: title, title, description, ...(mimeType !== undefined && { mimeType }) }
}

/** Content has the shapes of MCP, but for its `meta` and for fields that are null. */
function plain(content: object): never {
  const entries = Object.entries(content).filter(([key, value]) => key !== 'meta' && value !== null)
  const inner = entries.map(([key, value]) => [key, key === 'resource' ? plain(value as object) : value])
  return Object.fromEntries(inner) as never
}

function said(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true }
}

function asProtocolError(error: unknown): never {
  if (!isParleyError(error, 'MCP_REQUEST')) throw error
  throw new ProtocolError(ProtocolErrorCode.InternalError, error.message)
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
