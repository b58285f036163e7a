/** Who may say yes, and what an answer makes true. Silence, errors and unknown options are never "yes". */
import { fail } from '../../errors/parley-error.ts'
import type { PermissionOption, PermissionOutcome } from '../../ports/values/content.ts'
import type { Grant, Rule } from '../../ports/rules.ts'
import type { Command } from './commands.ts'
import type { Body } from './entries.ts'
import {
  type Busy,
  type Existing,
  type OpenQuestion,
  type State,
  isBusy,
  openQuestions,
  toolCallEntry,
} from './state.ts'

/** The options that make a rule for all sessions of the project. */
export const ALWAYS_IN_PROJECT = 'allow_always_project'
export const NEVER_IN_PROJECT = 'reject_always_project'

export function isYes(outcome: PermissionOutcome): boolean {
  return outcome.outcome === 'selected' && (outcome.kind === 'allow_once' || outcome.kind === 'allow_always')
}

/**
 * Questions that survive are open one at a time; others may be open beside each other. While a turn is being cancelled
 * nothing is asked any more.
 */
export function askPermission(command: Command & { readonly kind: 'ask' }, state: Busy): readonly Body[] {
  const { requestId, ask } = command
  const { toolCallId, patch, options, grant, resume, survives } = ask
  const isBeside = state.phase === 'waiting' && survives === false
  if (state.phase !== 'working' && !isBeside) return []
  const asked: Body = {
    kind: 'permission_requested',
    requestId,
    toolCallId,
    call: patch,
    options,
    resume,
    ...(grant && { grant }),
    ...(survives === false && { survives }),
  }
  return [toolCallEntry({ toolCallId, patch }, state), asked]
}

/** The first valid answer wins; a later one is refused with PERMISSION_UNKNOWN. */
export function resolvePermission(command: Command & { readonly kind: 'answer' }, state: State): readonly Body[] {
  const { requestId, optionId, why, by } = command
  const question = openQuestions(state).find((open) => open.requestId === requestId)
  if (!isBusy(state) || question === undefined) return fail('PERMISSION_UNKNOWN', { request: requestId })
  const outcome = outcomeOf(optionId, question.options)
  const resolved: Body = { kind: 'permission_resolved', requestId, outcome, ...(by !== undefined && { by }) }
  const said: readonly Body[] = why === undefined ? [] : [{ kind: 'notice', text: why }]
  const resumed: readonly Body[] =
    state.phase === 'suspended' ? [{ kind: 'turn_resumed', turnId: state.turn.turnId }] : []
  return [...said, resolved, ...resumed]
}

/** The rule that an answer for the whole project makes, for all sessions of the directory. */
export function ruleMadeBy({ grant }: Pick<OpenQuestion, 'grant'>, outcome: PermissionOutcome): MadeRule | undefined {
  if (grant === undefined || outcome.outcome !== 'selected') return undefined
  const { optionId, kind } = outcome
  const effect =
    kind === 'allow_always' && optionId === ALWAYS_IN_PROJECT
      ? 'allow'
      : kind === 'reject_always' && optionId === NEVER_IN_PROJECT && 'deny'
  return effect === false ? undefined : { effect, subject: grant }
}

export type MadeRule = Pick<Rule, 'effect' | 'subject'>

/** The grant that an "always" or "never" makes in this session. One for the whole project is kept with the rules instead. */
export function grantMadeBy({ grant }: Pick<OpenQuestion, 'grant'>, outcome: PermissionOutcome): Grant | undefined {
  if (grant === undefined || outcome.outcome !== 'selected') return undefined
  const { kind, optionId } = outcome
  if (kind === 'allow_always' && optionId !== ALWAYS_IN_PROJECT) return { ...grant, effect: 'allow' }
  return kind === 'reject_always' && optionId !== NEVER_IN_PROJECT ? { ...grant, effect: 'deny' } : undefined
}

export function isSameGrant(one: Grant, other: Grant): boolean {
  return (
    one.effect === other.effect &&
    one.tool === other.tool &&
    one.definition === other.definition &&
    one.command === other.command &&
    one.host === other.host
  )
}

export function revoke({ grant }: Command & { readonly kind: 'revoke' }, state: Existing): readonly Body[] {
  const isHeld = state.grants.some((held) => isSameGrant(held, grant))
  return isHeld ? [{ kind: 'permission_revoked', grant }] : []
}

/** An option that was not offered is no answer: the call does not run. */
function outcomeOf(optionId: string | null, options: readonly PermissionOption[]): PermissionOutcome {
  const option = options.find((offered) => offered.optionId === optionId)
  return option === undefined
    ? { outcome: 'cancelled' }
    : { outcome: 'selected', optionId: option.optionId, kind: option.kind }
}
