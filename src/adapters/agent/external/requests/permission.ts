/** A permission that an agent asks for: its call and its options go to the clients, the first valid answer goes back. */
import type { Turn } from '../../../../ports/agent.ts'
import type { PermissionOption, PermissionOutcome } from '../../../../ports/values/content.ts'
import { fieldsOf } from '../../../../rpc/json-rpc.ts'
import { RefusedRequest } from '../process/peer.ts'
import { PARAMS_INVALID } from '../process/wire-error.ts'
import { callIn, textOf } from '../updates/content.ts'

export const CANCELLED = { outcome: { outcome: 'cancelled' } } as const

/** Resolves with the answer for the agent. Throws RefusedRequest. */
export async function askPermission(
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
