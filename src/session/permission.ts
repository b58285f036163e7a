/** Who may say yes, and what an answer makes true. Silence, errors and unknown options are never "yes". */
import { fail } from '../errors/parley-error.ts'
import type { PermissionOption, PermissionOutcome } from '../ports/content.ts'
import type { Tool } from '../ports/tools.ts'
import type { Command } from './commands.ts'
import type { Body } from './entries.ts'
import { type Busy, type State, isBusy } from './state.ts'
import { callSaid } from './turn-entries.ts'

/** The answers offered when the session itself asks about a tool. */
export const TOOL_OPTIONS: readonly PermissionOption[] = [
  { optionId: 'allow_once', name: 'Allow once', kind: 'allow_once' },
  { optionId: 'allow_always', name: 'Always allow in this session', kind: 'allow_always' },
  { optionId: 'reject_once', name: 'Reject', kind: 'reject_once' },
]

/** A tool runs unasked only if a trusted server says it changes nothing, or somebody said "always" in this session. */
export function needsQuestion(tool: Tool, allowed: readonly string[]): boolean {
  return !(tool.trusted && tool.readOnly) && !allowed.includes(allowanceOf(tool))
}

/** What "always" is said of: the tool as its server describes it now. One that says something else has to be allowed anew. */
export function allowanceOf({ name, digest }: Tool): string {
  return `${name}#${digest}`
}

export function isYes(outcome: PermissionOutcome): boolean {
  return outcome.outcome === 'selected' && (outcome.kind === 'allow_once' || outcome.kind === 'allow_always')
}

/** One question at a time is open in a session; while a turn is being cancelled nothing is asked any more. */
export function askPermission(command: Command & { readonly kind: 'ask' }, state: Busy): readonly Body[] {
  if (state.phase !== 'working') return []
  const { requestId, ask } = command
  const { toolCallId, patch, options, tool, resume } = ask
  const asked: Body = {
    kind: 'permission_requested',
    requestId,
    toolCallId,
    call: patch,
    options,
    resume,
    ...(tool === undefined ? {} : { tool }),
  }
  return [...callSaid({ toolCallId, patch }, state), asked]
}

/** The first valid answer wins; a later one is told that nobody waits any more. */
export function resolvePermission(command: Command & { readonly kind: 'answer' }, state: State): readonly Body[] {
  const { requestId, optionId, why } = command
  const open = isBusy(state) && (state.phase === 'waiting' || state.phase === 'suspended') ? state : undefined
  if (open === undefined || open.question.requestId !== requestId)
    return fail('PERMISSION_UNKNOWN', { request: requestId })
  const resolved: Body = { kind: 'permission_resolved', requestId, outcome: outcomeOf(optionId, open.question.options) }
  const said: readonly Body[] = why === undefined ? [] : [{ kind: 'notice', text: why }]
  const resumed: readonly Body[] = open.phase === 'waiting' ? [] : [{ kind: 'turn_resumed', turnId: open.turn.turnId }]
  return [...said, resolved, ...resumed]
}

/** An option that was not offered is no answer: the call does not run. */
function outcomeOf(optionId: string | null, options: readonly PermissionOption[]): PermissionOutcome {
  const option = options.find((offered) => offered.optionId === optionId)
  return option === undefined
    ? { outcome: 'cancelled' }
    : { outcome: 'selected', optionId: option.optionId, kind: option.kind }
}
