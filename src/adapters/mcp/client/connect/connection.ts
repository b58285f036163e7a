/** An open connection to a server: keeps its offer up to date, checks calls against its schemas, and notices its end. */
import type { Client } from '@modelcontextprotocol/client'
import { fail } from '../../../../errors/parley-error.ts'
import type { CompletionRequest, PromptMessage, ToolResult } from '../../../../ports/tools.ts'
import { coerceArguments } from '../../../checking/coerce-arguments.ts'
import { Schemas } from '../../../checking/schemas.ts'
import type { About, CallOptions, ServerConnection, ServerOffer, Paused, ServerTool } from '../../host/mcp-types.ts'
import type { ConnectAttempt, ClientSession } from './connect-attempt.ts'
import { LoginNeeded } from '../../transport/authorization.ts'
import { requestTool, type CallContext, requestCompletion, requestPrompt, requestResource } from '../request/call.ts'
import { isObject } from '../../../checking/json.ts'
import { TrackedOffer } from '../lists/offer.ts'
import { reasonIn } from '../request/request.ts'
import { WatchedResources } from '../lists/change-notifications.ts'

/** Throws, with nothing left open, when the tools cannot be listed. */
export async function openServerConnection(session: ClientSession, attempt: ConnectAttempt): Promise<ServerConnection> {
  const connection = new OpenConnection(session, attempt)
  await connection.listOffer()
  return connection
}

class OpenConnection implements ServerConnection {
  readonly about: About
  readonly #session: ClientSession
  readonly #attempt: ConnectAttempt
  readonly #resources: WatchedResources
  readonly #offer: TrackedOffer
  readonly #schemas: Schemas
  readonly #callContext: CallContext
  /** Aborts when the connection ends. */
  readonly #over = new AbortController()
  /** The requests that are running. */
  readonly #running = new Set<Promise<unknown>>()
  #closed: Promise<void> | undefined

  constructor(session: ClientSession, attempt: ConnectAttempt) {
    const { client, transport, openCalls } = session
    const { request, context, redact, authorization } = attempt
    const { clock, limits, checker } = context
    const { label, roots } = request
    const { signal } = this.#over
    const lose = (reason: string): void => this.#lose(reason)
    this.#session = session
    this.#attempt = attempt
    this.about = aboutOf(client, label)
    this.#resources = new WatchedResources(client, {
      clock,
      signal,
      onChanged: () => void (signal.aborted || request.onOffer()),
      onGone: lose,
    })
    this.#offer = new TrackedOffer(session, attempt, { over: signal, lose })
    this.#schemas = new Schemas(checker, (what, fault) =>
      session.warn(`the ${what} is wrong and was not followed to the letter (${fault})`),
    )
    const { end } = transport
    this.#callContext = { client, authorization, openCalls, label, roots, clock, limits, redact, end, lose }
  }

  /** Called once, before anything else. */
  async listOffer(): Promise<void> {
    try {
      await this.#offer.begin()
    } catch (error) {
      await this.#giveUp(error)
    }
    this.#resources.resume(this.#attempt.request.watched)
  }

  offer(): ServerOffer {
    return this.#resources.marked(this.#offer.now)
  }

  watched(): readonly string[] {
    return this.#resources.watched()
  }

  refreshIfStale(): void {
    this.#offer.refreshIfStale()
  }

  latencyMs(): number {
    return this.#offer.latencyMs
  }

  call(tool: ServerTool, args: unknown, options: CallOptions): Promise<ToolResult | Paused> {
    return this.#counted(this.#call(tool, args, options))
  }

  read(uri: string, options: CallOptions): ReturnType<ServerConnection['read']> {
    return this.#counted(this.#resources.reading(uri, () => requestResource(this.#callContext, uri, options)))
  }

  prompt(
    original: string,
    args: Readonly<Record<string, string>>,
    options: CallOptions,
  ): Promise<readonly PromptMessage[]> {
    return this.#counted(requestPrompt(this.#callContext, { original, args }, options))
  }

  complete(request: CompletionRequest, options: CallOptions): Promise<readonly string[]> {
    return this.#counted(requestCompletion(this.#callContext, request, options))
  }

  rootsChanged(): void {
    const { client } = this.#session
    // A modern server asks for the roots with each call. If the notification is lost, the server learns them at its next request.
    if (client.getProtocolEra() === 'legacy') client.sendRootsListChanged().catch(() => undefined)
  }

  async drain(): Promise<void> {
    this.#over.abort()
    await Promise.allSettled(this.#running)
    await this.close()
  }

  close(): Promise<void> {
    const { transport } = this.#session
    if (this.#closed === undefined && transport.end() === undefined) this.#resources.end()
    this.#over.abort()
    this.#closed ??= transport.close()
    return this.#closed
  }

  #lose(reason: string): void {
    if (this.#over.signal.aborted) return
    this.#over.abort()
    const { request, context, redact } = this.#attempt
    // The next server at this URL may be a newer version, and asking costs one request. For a process the cache lasts a day.
    if (request.server.type !== 'stdio') context.protocolCache.forget(request.server)
    request.onLost(redact(reason))
  }

  /** Throws without the cause, which may quote secrets that the server was sent. */
  async #giveUp(error: unknown): Promise<never> {
    await this.close()
    if (error instanceof LoginNeeded) throw error
    throw new Error(`its tools could not be listed (${this.#session.transport.end() ?? reasonIn(error)})`)
  }

  async #counted<Result>(running: Promise<Result>): Promise<Result> {
    this.#running.add(running)
    try {
      return await running
    } finally {
      this.#running.delete(running)
    }
  }

  async #call(tool: ServerTool, args: unknown, options: CallOptions): Promise<ToolResult | Paused> {
    const given = args ?? {}
    if (!isObject(given)) return fail('TOOL_ARGUMENTS', { tool: options.name, reason: 'they must be an object' })
    const what = `inputSchema of tool ${tool.serverToolName}`
    const check = (value: unknown) => this.#schemas.check(tool.inputSchema, value, what)
    const fit = await coerceArguments(given, tool.inputSchema, check)
    if ('wrong' in fit) return fail('TOOL_ARGUMENTS', { tool: options.name, reason: fit.wrong })
    const result = await requestTool(this.#callContext, { tool, args: fit.args, options })
    if (!('pause' in result)) await this.#checkResult(tool, result)
    return result
  }

  /** The tool ran, so its result is kept even if it does not match the schema. */
  async #checkResult({ outputSchema, serverToolName }: ServerTool, { isError, structured }: ToolResult): Promise<void> {
    if (outputSchema === undefined || isError) return
    const wrong = await this.#schemas.check(outputSchema, structured, `outputSchema of tool ${serverToolName}`)
    if (wrong !== undefined) this.#session.warn(`a result of tool ${serverToolName} does not fit its outputSchema`)
  }
}

/** Protocol features that a server may have and that Parley does not use yet. */
const UNUSED = ['logging', 'tasks', 'experimental', 'extensions'] as const

function aboutOf(client: Client, label: string): About {
  const info = client.getServerVersion()
  const era = client.getProtocolEra()
  const protocol = client.getNegotiatedProtocolVersion()
  const has = client.getServerCapabilities() as Readonly<Record<string, unknown>> | undefined
  const unused = UNUSED.filter((feature) => isObject(has?.[feature]))
  return {
    title: info?.title ?? info?.name ?? label,
    speaks: {
      ...(era !== undefined && { era }),
      ...(protocol !== undefined && { protocol }),
      ...(unused.length > 0 && { unused }),
    },
  }
}
