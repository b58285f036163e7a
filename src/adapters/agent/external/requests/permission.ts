/** A permission that an agent asks for: its call and its options go to the clients, the first valid answer goes back. */
import type { Turn } from '../../../../ports/agent.ts'
import type { PermissionOption, PermissionOutcome } from '../../../../ports/values/content.ts'
import type { Tool } from '../../../../ports/tools.ts'
import { fieldsOf } from '../../../../rpc/json-rpc.ts'
import { RefusedRequest } from '../process/peer.ts'
import { PARAMS_INVALID } from '../process/wire-error.ts'
import { callIn, textOf } from '../updates/content.ts'
import type { TurnUpdates } from '../updates/turn-updates.ts'

export const CANCELLED = { outcome: { outcome: 'cancelled' } } as const

/** Resolves with the answer for the agent. Throws RefusedRequest. */
export async function requestPermission(
  params: unknown,
  turn: Turn,
  refused: () => void,
): Promise<{ readonly outcome: object }> {
  const { toolCall, options } = fieldsOf(params)
  const call = fieldsOf(toolCall)
  const { toolCallId } = call
  if (typeof toolCallId !== 'string') throw new RefusedRequest(PARAMS_INVALID, 'toolCall.toolCallId must be a text')
  const asked = { toolCallId, patch: callIn(call), options: optionsIn(options), state: null, survives: false } as const
  const outcome = await turn.ask(asked)
  if (outcome.outcome === 'cancelled') return CANCELLED
  if (isRefusal(outcome)) refused()
  return { outcome: { outcome: 'selected', optionId: outcome.optionId } }
}

const TOOL_OPTIONS = [
  { optionId: 'once', name: 'Allow once', kind: 'allow_once' },
  { optionId: 'always', name: 'Allow this tool until the session is closed', kind: 'allow_always' },
  { optionId: 'no', name: 'Do not allow', kind: 'reject_once' },
] as const

/**
 * Asks for a tool of an MCP server in the place of an agent that never asks. The question has a call of its own, which ends with
 * the answer: the agent reports what becomes of the tool. Undefined for a refusal.
 */
export async function askForTool(
  tool: Tool,
  args: unknown,
  { turn }: TurnUpdates,
): Promise<'once' | 'always' | undefined> {
  const toolCallId = turn.newToolCallId()
  const about = { title: `${tool.title} (${tool.server})`, kind: 'other', status: 'pending', rawInput: args } as const
  const asked = { toolCallId, patch: about, options: TOOL_OPTIONS, state: null, survives: false } as const
  const outcome = await turn.ask(asked)
  const given = outcome.outcome === 'selected' && outcome.optionId !== 'no' ? outcome.optionId : undefined
  await turn.report(toolCallId, { status: given === undefined ? 'failed' : 'completed' })
  return given === 'once' || given === 'always' ? given : undefined
}

function isRefusal(outcome: PermissionOutcome): boolean {
  return outcome.outcome === 'selected' && (outcome.kind === 'reject_once' || outcome.kind === 'reject_always')
}

/** Throws RefusedRequest: without two different options there is no choice. */
function optionsIn(value: unknown): readonly PermissionOption[] {
  if (!Array.isArray(value)) throw new RefusedRequest(PARAMS_INVALID, 'options must be a list')
  const options = value.flatMap((one): readonly PermissionOption[] => {
    const { optionId, name, kind } = fieldsOf(one)
    if (typeof optionId !== 'string') return []
    // A kind that Parley does not know is passed on: shown as a known one, a user would choose it without knowing.
    return [{ optionId, name: textOf(name) ?? optionId, kind: textOf(kind) ?? 'unknown' }]
  })
  if (new Set(options.map(({ optionId }) => optionId)).size < options.length)
    throw new RefusedRequest(PARAMS_INVALID, 'two options have the same optionId')
  return options
}
