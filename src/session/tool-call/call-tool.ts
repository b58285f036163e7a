/** Runs a tool of the registry: the call is reported and authorized, its beginning stored before its first effect, then its result. */
import { fail, isParleyError, reasonOf } from '../../errors/parley-error.ts'
import type { ToolRequest } from '../../ports/agent.ts'
import type { PathAccessFilter } from '../../ports/values/path-access.ts'
import type { PlanEntry, ToolCallContent, ToolCallPatch, ToolStatus } from '../../ports/values/content.ts'
import type { Tool, ToolCallContext, ToolInputRequest, ToolList, ToolResult } from '../../ports/tools.ts'
import type { ClientUser } from '../client-services/client-request.ts'
import { TurnClientServices } from '../client-services/turn-client.ts'
import type { AgentEvent } from '../domain/commands.ts'
import { authorizeToolCall } from '../permission/authorize.ts'
import type { LiveTurn } from '../turn/live-turn.ts'
import { ElicitationBroker } from './elicitation-broker.ts'
import { findToolResult } from './find-tool-result.ts'
import { InputRequired } from './input-required.ts'

const CANCELLED = 'Cancelled. The tool was not run.'

/** Any failure of the tool is a result with `isError` that the agent reads; only a journal that fails throws. */
export async function callTool(request: ToolRequest, turn: LiveTurn): Promise<ToolResult> {
  const toolCallId = request.toolCallId ?? turn.newToolCallId()
  const tool = turn.tools.list().tools.find(({ name }) => name === request.name)
  if (tool === undefined) {
    const { name, args: rawInput } = request
    await turn.report(toolCallId, { name, status: 'pending', rawInput, title: name, kind: 'other' })
    return refuseCall(turn, toolCallId, unknownTool(request.name, turn.tools.list()))
  }
  const preview = () => previewOf(request, toolCallId, turn)
  const resumeFrom = turn.earlierInputRequest(toolCallId)
  const attempt = { request, tool, toolCallId, preview, hasBegun: resumeFrom !== undefined }
  const authorization = await authorizeToolCall(attempt, turn)
  if ('refusal' in authorization) return refuseCall(turn, toolCallId, authorization.refusal)
  if (turn.signal.aborted) return refuseCall(turn, toolCallId, CANCELLED)
  const call = new ToolCall(turn, { request, tool, toolCallId, access: authorization.access, resumeFrom })
  return resumeFrom === undefined ? call.begin() : call.run()
}

/** The agent may need to know which server does not provide the tool. */
function unknownTool(name: string, { servers }: ToolList): string {
  const troubles = servers.flatMap(({ name, state, reason }) =>
    state === 'connecting' ? [`MCP server ${name} is still connecting.`] : (reason ?? []),
  )
  return [`There is no tool ${name} now.`, ...troubles].join(' ')
}

async function previewOf(request: ToolRequest, toolCallId: string, turn: LiveTurn) {
  const context = openToolCallContext(turn, toolCallId, () => undefined)
  try {
    return await turn.tools.preview(request.name, request.args, context.caller)
  } finally {
    context.close()
  }
}

async function refuseCall(turn: LiveTurn, toolCallId: string, why: string): Promise<ToolResult> {
  const content = [{ type: 'text', text: why }] as const
  await turn.report(toolCallId, { status: unsuccessful(turn), content: toCallContent(content) })
  return { content, isError: true }
}

/** How a call ends that did not succeed: one that the user cancelled says so. */
function unsuccessful({ signal }: LiveTurn): ToolStatus {
  return signal.aborted ? 'cancelled' : 'failed'
}

function toCallContent(content: ToolResult['content']): readonly ToolCallContent[] {
  return content.map((block) => ({ type: 'content', content: block }))
}

interface AuthorizedCall {
  readonly request: ToolRequest
  readonly tool: Tool
  readonly toolCallId: string
  readonly access: PathAccessFilter
  /** The input request at which the call continues; undefined for a call that begins. */
  readonly resumeFrom: ToolInputRequest | undefined
}

/** One authorized call, from the store of its beginning to its result. */
class ToolCall {
  readonly #turn: LiveTurn
  readonly #call: AuthorizedCall
  #broker: ElicitationBroker | undefined
  #attempts = 0

  constructor(turn: LiveTurn, call: AuthorizedCall) {
    this.#turn = turn
    this.#call = call
  }

  async begin(): Promise<ToolResult> {
    const { toolCallId } = this.#call
    // Storing takes a while on a slow disk, and the user may have cancelled meanwhile.
    if (!(await this.#storeInProgress())) return refuseCall(this.#turn, toolCallId, CANCELLED)
    await this.#turn.ports.faults.at('tool.started')
    return this.run()
  }

  async run(): Promise<ToolResult> {
    const result = await this.#result()
    await this.#turn.ports.faults.at('tool.finished')
    await this.#turn.report(this.#call.toolCallId, {
      status: result.isError ? unsuccessful(this.#turn) : 'completed',
      content: result.displayContent ?? toCallContent(result.content),
      ...(result.structured === undefined ? {} : { rawOutput: result.structured }),
    })
    return result
  }

  /** False if the call may not run: the turn is over or cancelled. */
  async #storeInProgress(more?: ToolCallPatch): Promise<boolean> {
    const patch = { status: 'in_progress', ...more } as const
    const isStored = await this.#turn.store({ kind: 'call', toolCallId: this.#call.toolCallId, patch })
    return isStored && !this.#turn.signal.aborted
  }

  async #result(): Promise<ToolResult> {
    const { request, toolCallId, access } = this.#call
    const context = openToolCallContext(this.#turn, toolCallId, access)
    try {
      return withRemarks(await this.#attemptTwice(context.caller), this.#broker)
    } catch (error) {
      const why = isParleyError(error) ? error.message : `The tool ${request.name} failed: ${reasonOf(error)}`
      return { content: [...(this.#broker?.remarks ?? []), { type: 'text', text: why }], isError: true }
    } finally {
      context.close()
    }
  }

  async #attemptTwice(caller: ToolCallContext): Promise<ToolResult> {
    const { tool, resumeFrom } = this.#call
    try {
      return await this.#attempt(caller)
    } catch (error) {
      const mayAskAgain = resumeFrom === undefined && this.#broker?.hasAsked !== true
      // The user is not asked twice for one call.
      if (this.#turn.signal.aborted || !mayAskAgain || !mayRepeat(tool, error)) throw error
      await this.#storeRetry(reasonOf(error))
      return await this.#attempt(caller)
    }
  }

  #attempt(caller: ToolCallContext): Promise<ToolResult> {
    const { request, resumeFrom, toolCallId } = this.#call
    const { name, args, timeoutMs, resume } = request
    const turn = this.#turn
    return turn.tools.call(name, args, {
      signal: turn.signal,
      onElicit: (question) => this.#questions.answer(question, turn.client.elicit),
      onInputRequired: (input) => {
        const call = { name, toolCallId, resume, asking: this.#questions }
        return new InputRequired(turn).inputFor(input, call, input === resumeFrom)
      },
      ...(resumeFrom && { resumeFrom }),
      onRetry: (why) => this.#storeRetry(why),
      caller,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    })
  }

  /** Each further attempt is stored, with the reason, before it is made. */
  async #storeRetry(why: string): Promise<void> {
    this.#attempts += 1
    const former = this.#attempts === 1 ? 'first one' : 'one before'
    const text = `Attempt ${this.#attempts + 1}, because the ${former} failed: ${why}`
    if (!(await this.#storeInProgress({ content: toCallContent([{ type: 'text', text }]) })))
      fail('TOOL_NOT_RUN', { tool: this.#call.request.name, reason: 'its turn is over' })
  }

  get #questions(): ElicitationBroker {
    this.#broker ??= new ElicitationBroker(this.#call.toolCallId)
    return this.#broker
  }
}

/** Remarks come last, because `modelContent` counts the characters before them. */
function withRemarks(result: ToolResult, broker: ElicitationBroker | undefined): ToolResult {
  const remarks = broker?.remarks ?? []
  if (remarks.length === 0) return result
  const forModel = result.modelContent === undefined ? {} : { modelContent: [...result.modelContent, ...remarks] }
  return { ...result, content: [...result.content, ...remarks], ...forModel }
}

/** Only a builtin tool that changes nothing, and only when the call never began or was cut off because its registry closed. */
function mayRepeat({ builtin, readOnly }: Tool, error: unknown): boolean {
  return builtin && readOnly && (isParleyError(error, 'TOOL_LOST') || isParleyError(error, 'TOOL_NOT_RUN'))
}

interface OpenToolCallContext {
  readonly caller: ToolCallContext
  /** The call is over: its terminals are released, and nothing more is reported for it. */
  close(): void
}

/** Creates the context that a builtin tool gets with a call. */
function openToolCallContext(turn: LiveTurn, toolCallId: string, access: PathAccessFilter): OpenToolCallContext {
  const { sessionId, turnId, roots, ports } = turn
  let client: TurnClientServices | undefined
  let isOver = false
  return {
    caller: {
      sessionId,
      turnId,
      toolCallId,
      roots,
      get client() {
        client ??= new TurnClientServices(new ToolCallUser(turn, toolCallId, access))
        if (isOver) client.close()
        return client
      },
      pathAccess: access,
      report: async (patch: ToolCallPatch) => (isOver ? undefined : turn.report(toolCallId, patch)),
      plan: async (entries: readonly PlanEntry[]) => (isOver ? undefined : turn.plan(entries)),
      resultOf: (earlier: string) => findToolResult({ journal: ports.journal, session: sessionId }, earlier),
    },
    close() {
      isOver = true
      client?.close()
    },
  }
}

/** A builtin tool uses the client as part of its call, which is reported already: its requests are not reported again. */
class ToolCallUser implements ClientUser {
  readonly #turn: LiveTurn
  readonly #toolCallId: string
  readonly #access: PathAccessFilter

  constructor(turn: LiveTurn, toolCallId: string, access: PathAccessFilter) {
    this.#turn = turn
    this.#toolCallId = toolCallId
    this.#access = access
  }

  get ports(): ClientUser['ports'] {
    return this.#turn.ports
  }

  get roots(): readonly string[] {
    return this.#turn.roots
  }

  get signal(): ClientUser['signal'] {
    return this.#turn.signal
  }

  get peer(): ClientUser['peer'] {
    return this.#turn.peer
  }

  async pathAccess(): Promise<PathAccessFilter> {
    return this.#access
  }

  newToolCallId(): string {
    return this.#toolCallId
  }

  async report(): Promise<void> {}

  async store(event: AgentEvent): Promise<boolean> {
    return event.kind === 'call' ? !this.#turn.isOver : this.#turn.store(event)
  }
}
