/** Whether a call may run: what it would do is looked at, rules, mode and earlier answers decide, and a person where they must. */
import type { Question, ToolRequest, Turn } from '../../ports/agent.ts'
import type { PermissionDecision, PermissionOutcome, ToolCallPatch } from '../../ports/content.ts'
import type { GrantSubject, RuleSet } from '../../ports/rules.ts'
import type { PathAccessFilter } from '../../ports/bars.ts'
import type { Tool, ToolPreview } from '../../ports/tools.ts'
import { grantSubjectOf, permissionOptionsFor } from './grants.ts'
import { pathAccessFilterFor } from './path-access-filter.ts'
import { isYes } from '../domain/permission-answer.ts'
import { type PolicyContext, type PolicyDecision, deniedBy, decidePolicy } from './policy.ts'

export interface AuthorizationContext {
  readonly turn: Turn
  /** What decides, as it is now. */
  standing(): Promise<PolicyContext>
  /** Once every question before it was answered. */
  inLine<Result>(work: () => Promise<Result>): Promise<Result>
  ask(question: Question, grant: GrantSubject | undefined): Promise<PermissionOutcome>
}

export interface ToolCallAttempt {
  readonly request: ToolRequest
  readonly tool: Tool
  readonly toolCallId: string
  readonly preview: () => Promise<ToolPreview>
  /** It goes on from where it stood, and was announced before. */
  readonly hasBegun: boolean
}

interface Judged {
  readonly preview: ToolPreview
  readonly rules: RuleSet
  /** Absent where nothing had to be decided. */
  readonly verdict?: PolicyDecision | undefined
}

/** What became of a call that wanted to run: what the agent reads instead of a result, or what it was let run with. */
export type Authorization = { readonly refusal: string } | { readonly bars: PathAccessFilter }

/** Announces the call and asks where it must. */
export async function authorizeToolCall(
  wanted: ToolCallAttempt,
  clearing: AuthorizationContext,
): Promise<Authorization> {
  const judged = await judge(wanted, clearing)
  if (judged.verdict?.decision !== 'ask') return settled(wanted, clearing, judged)
  if (judged.preview.cannotRunReason !== undefined) return unfit(wanted, clearing, judged)
  return clearing.inLine(async () => {
    // Whoever was asked before this may have said always and meant this too, or it would do something else by now.
    const now = await judge(wanted, clearing)
    return now.verdict?.decision === 'ask' ? asked(wanted, clearing, now) : settled(wanted, clearing, now)
  })
}

/** Who has the answer already is held by nothing but a rule that denies. */
async function judge(
  { request, tool, preview: look }: ToolCallAttempt,
  clearing: AuthorizationContext,
): Promise<Judged> {
  const [preview, standing] = await Promise.all([look(), clearing.standing()])
  const call = { tool, preview }
  const verdict = request.permission === 'granted' ? deniedBy(call, standing) : decidePolicy(call, standing)
  return { preview, rules: standing.rules, verdict }
}

async function settled(
  wanted: ToolCallAttempt,
  { turn }: AuthorizationContext,
  judged: Judged,
): Promise<Authorization> {
  if (!wanted.hasBegun) await turn.report(wanted.toolCallId, announced(wanted, judged))
  return judged.verdict?.decision === 'deny' ? { refusal: refusalWords(judged.verdict) } : letRun(wanted, judged)
}

/** Nobody's time is taken for what would fail whatever they say. */
async function unfit(wanted: ToolCallAttempt, { turn }: AuthorizationContext, judged: Judged): Promise<Authorization> {
  const { verdict: _nobodyWasAsked, ...rest } = judged
  await turn.report(wanted.toolCallId, announced(wanted, rest))
  return { refusal: judged.preview.cannotRunReason ?? '' }
}

function letRun({ tool }: ToolCallAttempt, { preview, rules }: Judged): Authorization {
  return { bars: pathAccessFilterFor({ tool, preview }, rules) }
}

async function asked(wanted: ToolCallAttempt, clearing: AuthorizationContext, judged: Judged): Promise<Authorization> {
  const { request, tool, toolCallId } = wanted
  const call = { tool, preview: judged.preview }
  const options = permissionOptionsFor(call, judged.verdict?.eachTime !== true)
  const canAlways = options.some(({ kind }) => kind === 'allow_always')
  const question = { toolCallId, patch: announced(wanted, judged), options, state: request.resume }
  const outcome = await clearing.ask(question, canAlways ? grantSubjectOf(call) : undefined)
  return isYes(outcome) ? letRun(wanted, judged) : { refusal: 'Not allowed. The tool was not run.' }
}

/** What people read of a call before it runs; who decided and why stands beside it, in the same entry. */
function announced({ request, tool }: ToolCallAttempt, { preview, verdict }: Judged): ToolCallPatch {
  const { title, kind, content, locations } = preview
  const isDeniedByRule = verdict?.decision === 'deny' && verdict.by !== 'mode'
  const isAsked = verdict?.decision === 'ask'
  return {
    name: request.name,
    status: 'pending',
    rawInput: request.args,
    // A person who is asked decides by what the tool tells of the call, not by what the agent calls it.
    title: (isAsked ? undefined : request.title) ?? title ?? `${tool.title} (${tool.server})`,
    kind,
    // The agent can search the journal: the difference of an edit would give away what a rule keeps from it.
    ...(content && !isDeniedByRule && { content }),
    ...(locations && { locations }),
    ...(verdict && { permission: permissionOf(verdict) }),
  }
}

function permissionOf({ decision, by, why }: PolicyDecision): PermissionDecision {
  return { decision, by, why }
}

function refusalWords({ by, why }: PolicyDecision): string {
  if (by !== 'mode') return `Not allowed: ${why}. The tool was not run. Do not try to get there another way.`
  return 'Not allowed: this session is in plan mode, where nothing is changed. Read, search and plan, then say what you would do. The tool was not run.'
}
