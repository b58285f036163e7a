/** Runs a tool of the registry: reported, allowed, its beginning stored before its first effect, its result told. */
import { fail, isParleyError, reasonOf } from '../../errors/parley-error.ts'
import type { ToolRequest, Turn } from '../../ports/agent.ts'
import type { ToolCallContent, ToolCallPatch, ToolStatus } from '../../ports/content.ts'
import type { Faults } from '../../ports/fault.ts'
import type { Elicitation } from '../../ports/elicitation.ts'
import type { PathAccessFilter } from '../../ports/bars.ts'
import type { Tool, ToolInputResponse, ToolList, ToolInputRequest, ToolResult } from '../../ports/tools.ts'
import type { OpenToolCallContext } from './tool-call-context.ts'
import { type AuthorizationContext, authorizeToolCall } from '../permission/authorize.ts'
import type { PausedCall } from './input-required.ts'
import { ElicitationBroker } from './elicitation-broker.ts'

export interface ToolCalling extends AuthorizationContext {
  readonly turn: Turn
  readonly faults: Faults
  /** Stores `in_progress`; resolves when that is durable, or with false when the turn was over before. */
  begin(toolCallId: string, more?: ToolCallPatch): Promise<boolean>
  /** For tools of our own. */
  caller(toolCallId: string, bars: PathAccessFilter): OpenToolCallContext
  /** The pause from which this call goes on: an owner before this one began it. */
  pauseOf(toolCallId: string): ToolInputRequest | undefined
  /** What the server of the call wants; `isKept` when that is stored already. */
  inputFor(pause: ToolInputRequest, call: PausedCall, isKept: boolean): Promise<ToolInputResponse>
}

/** Whatever goes wrong is a result with `isError` that the agent reads; only a journal that fails throws. */
export async function callTool(request: ToolRequest, calling: ToolCalling): Promise<ToolResult> {
  const { turn } = calling
  const toolCallId = request.toolCallId ?? turn.newToolCallId()
  const tool = turn.tools.list().tools.find(({ name }) => name === request.name)
  if (tool === undefined) {
    const { name, args: rawInput } = request
    await turn.report(toolCallId, { name, status: 'pending', rawInput, title: name, kind: 'other' })
    return refuse(turn, toolCallId, missing(request.name, turn.tools.list()))
  }
  const preview = () => previewOf(request, toolCallId, calling)
  const goesOn = calling.pauseOf(toolCallId)
  const cleared = await authorizeToolCall(
    { request, tool, toolCallId, preview, hasBegun: goesOn !== undefined },
    calling,
  )
  if ('refusal' in cleared) return refuse(turn, toolCallId, cleared.refusal)
  if (turn.signal.aborted) return refuse(turn, toolCallId, 'Cancelled. The tool was not run.')
  const call: Call = { request, tool, toolCallId, bars: cleared.bars, goesOn }
  return goesOn === undefined ? begin(call, calling) : run(call, calling)
}

/** Whoever reads that a tool is not there wants to know which server did not bring it. */
function missing(name: string, { servers }: ToolList): string {
  const troubles = servers.flatMap(({ name, state, reason }) =>
    state === 'connecting' ? [`MCP server ${name} is still connecting.`] : (reason ?? []),
  )
  return [`There is no tool ${name} now.`, ...troubles].join(' ')
}

/** Looking at what a call would do is no call of its own. */
async function previewOf(request: ToolRequest, toolCallId: string, calling: ToolCalling) {
  const asking = calling.caller(toolCallId, () => undefined)
  try {
    return await calling.turn.tools.preview(request.name, request.args, asking.caller)
  } finally {
    asking.close()
  }
}

async function refuse(turn: Turn, toolCallId: string, why: string): Promise<ToolResult> {
  const content = [{ type: 'text', text: why }] as const
  await turn.report(toolCallId, { status: unsuccessful(turn), content: shown(content) })
  return { content, isError: true }
}

/** How a call ends that did not succeed: one that the user cancelled says so. */
function unsuccessful({ signal }: Turn): ToolStatus {
  return signal.aborted ? 'cancelled' : 'failed'
}

interface Call {
  readonly request: ToolRequest
  readonly tool: Tool
  readonly toolCallId: string
  readonly bars: PathAccessFilter
  readonly goesOn: ToolInputRequest | undefined
}

async function begin(call: Call, calling: ToolCalling): Promise<ToolResult> {
  const { turn, faults } = calling
  const { toolCallId } = call
  const begun = await calling.begin(toolCallId)
  // The disk may have taken its time: whoever cancelled meanwhile must not see it run.
  if (!begun || turn.signal.aborted) return refuse(turn, toolCallId, 'Cancelled. The tool was not run.')
  await faults.at('tool.started')
  return run(call, calling)
}

async function run(call: Call, calling: ToolCalling): Promise<ToolResult> {
  const { turn, faults } = calling
  const { toolCallId } = call
  const result = await outcomeOf(call, calling)
  await faults.at('tool.finished')
  await turn.report(toolCallId, {
    status: result.isError ? unsuccessful(turn) : 'completed',
    content: result.displayContent ?? shown(result.content),
    ...(result.structured === undefined ? {} : { rawOutput: result.structured }),
  })
  return result
}

async function outcomeOf(call: Call, calling: ToolCalling): Promise<ToolResult> {
  const { toolCallId, request, bars } = call
  const own = calling.caller(toolCallId, bars)
  const asking = new ElicitationBroker(toolCallId)
  try {
    return remarked(await attempts(call, calling, { own, asking }), asking)
  } catch (error) {
    const why = isParleyError(error) ? error.message : `The tool ${request.name} failed: ${reasonOf(error)}`
    return { content: [...asking.remarks, { type: 'text', text: why }], isError: true }
  } finally {
    own.close()
  }
}

/** At the end, where they shift nothing that was counted in the words of the tool. */
function remarked(result: ToolResult, { remarks }: ElicitationBroker): ToolResult {
  if (remarks.length === 0) return result
  const forModel = result.modelContent === undefined ? {} : { modelContent: [...result.modelContent, ...remarks] }
  return { ...result, content: [...result.content, ...remarks], ...forModel }
}

interface Means {
  readonly own: OpenToolCallContext
  readonly asking: ElicitationBroker
}

/** Each further attempt is in the journal, with what became of the one before, before it is made. */
async function attempts(call: Call, calling: ToolCalling, means: Means): Promise<ToolResult> {
  const { request, tool, toolCallId, goesOn } = call
  const { turn } = calling
  const { own, asking } = means
  const { name, args, timeoutMs, resume } = request
  let number = 1
  const again = async (why: string): Promise<void> => {
    number += 1
    const text = `Attempt ${number}, because the ${number === 2 ? 'first one' : 'one before'} failed: ${why}`
    const begun = await calling.begin(toolCallId, { content: shown([{ type: 'text', text }]) })
    if (!begun || turn.signal.aborted) fail('TOOL_NOT_RUN', { tool: name, reason: 'its turn is over' })
  }
  const attempt = () =>
    turn.tools.call(name, args, {
      signal: turn.signal,
      onElicit: (question: Elicitation) => asking.answer(question, turn.client.elicit),
      onInputRequired: (pause: ToolInputRequest) =>
        calling.inputFor(pause, { name, toolCallId, resume, asking }, pause === goesOn),
      ...(goesOn && { resumeFrom: goesOn }),
      onRetry: again,
      caller: own.caller,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    })
  try {
    return await attempt()
  } catch (error) {
    // Nobody is asked twice for one call.
    if (turn.signal.aborted || goesOn !== undefined || asking.hasAsked || !mayRepeat(tool, error)) throw error
    await again(reasonOf(error))
    return await attempt()
  }
}

/** Only what changes nothing, whoever claims that being trusted, and only where the way was at fault and not the tool. */
function mayRepeat({ builtin, readOnly }: Tool, error: unknown): boolean {
  return builtin && readOnly && (isParleyError(error, 'TOOL_LOST') || isParleyError(error, 'TOOL_NOT_RUN'))
}

function shown(content: ToolResult['content']): readonly ToolCallContent[] {
  return content.map((block) => ({ type: 'content', content: block }))
}
