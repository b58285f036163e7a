/** Runs a tool of the registry: reported, allowed, its beginning stored before its first effect, its result told. */
import { isParleyError, reasonOf } from '../errors/parley-error.ts'
import type { Question, ToolRequest, Turn } from '../ports/agent.ts'
import type { PermissionOutcome, ToolCallContent } from '../ports/content.ts'
import type { Faults } from '../ports/fault.ts'
import type { Elicitation } from '../ports/elicitation.ts'
import type { Tool, ToolList, ToolPreview, ToolResult } from '../ports/tools.ts'
import { allowanceOf, optionsFor } from './allowance.ts'
import { isYes } from './permission.ts'
import { ToolAsking } from './tool-asking.ts'
import { type Standing, type Verdict, deniedBy, verdictOn } from './verdict.ts'

export interface ToolCalling {
  readonly turn: Turn
  readonly faults: Faults
  /** What decides whether it may run, as it is now. */
  standing(): Promise<Standing>
  /** Stores `in_progress`; resolves when that is durable, or with false when the turn was over before. */
  begin(toolCallId: string): Promise<boolean>
  /** Once every question before it was answered. */
  inLine<Result>(work: () => Promise<Result>): Promise<Result>
  ask(question: Question, tool: string | undefined): Promise<PermissionOutcome>
}

/** Whatever goes wrong is a result with `isError` that the agent reads; only a journal that fails throws. */
export async function callTool(request: ToolRequest, calling: ToolCalling): Promise<ToolResult> {
  const { turn } = calling
  const toolCallId = request.toolCallId ?? turn.newToolCallId()
  const tool = turn.tools.list().tools.find(({ name }) => name === request.name)
  if (tool === undefined) {
    await turn.report(toolCallId, { ...described(request), title: request.name, kind: 'other' })
    return refuse(turn, toolCallId, missing(request.name, turn.tools.list()))
  }
  const refusal = await refusalOf({ request, tool, toolCallId }, calling)
  if (refusal !== undefined) return refuse(turn, toolCallId, refusal)
  if (turn.signal.aborted) return refuse(turn, toolCallId, 'Cancelled. The tool was not run.')
  return run(request, toolCallId, calling)
}

/** Whoever reads that a tool is not there wants to know which server did not bring it. */
function missing(name: string, { servers }: ToolList): string {
  const troubles = servers.flatMap(({ name, state, reason }) =>
    state === 'connecting' ? [`MCP server ${name} is still connecting.`] : (reason ?? []),
  )
  return [`There is no tool ${name} now.`, ...troubles].join(' ')
}

function described({ name, args }: ToolRequest) {
  return { name, status: 'pending', rawInput: args } as const
}

/** What people read of a call before it runs. */
function announced(request: ToolRequest, tool: Tool, { title, kind, content, locations }: ToolPreview) {
  return {
    ...described(request),
    title: title ?? `${tool.title} (${tool.server})`,
    kind,
    ...(content && { content }),
    ...(locations && { locations }),
  }
}

interface Wanted {
  readonly request: ToolRequest
  readonly tool: Tool
  readonly toolCallId: string
}

/** Announces the call, asks about it where it must; undefined when it may run, else what the agent reads instead of a result. */
async function refusalOf(wanted: Wanted, calling: ToolCalling): Promise<string | undefined> {
  const { request, tool } = wanted
  const { tools, sessionId, roots, client } = calling.turn
  const preview = await tools.preview(tool.name, request.args, { sessionId, roots, client })
  const call = { tool, preview }
  if (request.permission === 'granted') {
    return settled(wanted, calling, { preview, verdict: deniedBy(call, await calling.standing()) })
  }
  const verdict = verdictOn(call, await calling.standing())
  if (verdict.decision !== 'ask') return settled(wanted, calling, { preview, verdict })
  return calling.inLine(async () => {
    // Whoever was asked before this may have said always, and meant this one too.
    const now = verdictOn(call, await calling.standing())
    return now.decision === 'ask'
      ? asked(wanted, calling, { preview, verdict: now })
      : settled(wanted, calling, { preview, verdict: now })
  })
}

interface Judged {
  readonly preview: ToolPreview
  /** Absent where nothing had to be decided. */
  readonly verdict: Verdict | undefined
}

async function settled({ request, tool, toolCallId }: Wanted, { turn }: ToolCalling, { preview, verdict }: Judged) {
  await turn.report(toolCallId, { ...announced(request, tool, preview), ...told(verdict) })
  return verdict?.decision === 'deny' ? refusalWords(verdict) : undefined
}

async function asked(
  { request, tool, toolCallId }: Wanted,
  calling: ToolCalling,
  { preview, verdict }: Judged & { readonly verdict: Verdict },
): Promise<string | undefined> {
  const call = { tool, preview }
  const options = optionsFor(call, verdict.eachTime !== true)
  const patch = { ...announced(request, tool, preview), ...told(verdict) }
  const canAlways = options.some(({ kind }) => kind === 'allow_always')
  const question = { toolCallId, patch, options, state: request.resume }
  const outcome = await calling.ask(question, canAlways ? allowanceOf(call) : undefined)
  return isYes(outcome) ? undefined : 'Not allowed. The tool was not run.'
}

/** Who decided and why, beside what the call would do: in the journal, and for whoever looks on. */
function told(verdict: Verdict | undefined) {
  if (verdict === undefined) return {}
  const { decision, by, why } = verdict
  return { _meta: { 'parley/permission': { decision, by, why } } }
}

function refusalWords({ by, why }: Verdict): string {
  if (by !== 'mode') return `Not allowed: ${why}. The tool was not run. Do not try to get there another way.`
  return 'Not allowed: this session is in plan mode, where nothing is changed. Read, search and plan; then say what you would do. The tool was not run.'
}

async function refuse(turn: Turn, toolCallId: string, why: string): Promise<ToolResult> {
  const content = [{ type: 'text', text: why }] as const
  await turn.report(toolCallId, { status: 'failed', content: shown(content) })
  return { content, isError: true }
}

async function run(request: ToolRequest, toolCallId: string, calling: ToolCalling): Promise<ToolResult> {
  const { turn, faults } = calling
  const begun = await calling.begin(toolCallId)
  // The disk may have taken its time: whoever cancelled meanwhile must not see it run.
  if (!begun || turn.signal.aborted) return refuse(turn, toolCallId, 'Cancelled. The tool was not run.')
  await faults.at('tool.started')
  const result = await outcomeOf(request, turn, toolCallId)
  await faults.at('tool.finished')
  await turn.report(toolCallId, {
    status: result.isError ? 'failed' : 'completed',
    content: shown(result.content),
    ...(result.structured === undefined ? {} : { rawOutput: result.structured }),
  })
  return result
}

async function outcomeOf(request: ToolRequest, turn: Turn, toolCallId: string): Promise<ToolResult> {
  const { name, args, timeoutMs } = request
  const asking = new ToolAsking(turn, toolCallId)
  try {
    const limit = timeoutMs === undefined ? {} : { timeoutMs }
    const onElicit = (question: Elicitation) => asking.answer(question)
    const result = await turn.tools.call(name, args, { signal: turn.signal, onElicit, ...limit })
    return asking.remarks.length === 0 ? result : { ...result, content: [...asking.remarks, ...result.content] }
  } catch (error) {
    const why = isParleyError(error) ? error.message : `The tool ${name} failed: ${reasonOf(error)}`
    return { content: [...asking.remarks, { type: 'text', text: why }], isError: true }
  }
}

function shown(content: ToolResult['content']): readonly ToolCallContent[] {
  return content.map((block) => ({ type: 'content', content: block }))
}
