/** Decides whether a tool call may run: by rules, mode and earlier answers, and by the user where those do not decide. */
import type { ToolRequest } from '../../ports/agent.ts'
import type { PermissionDecision, ToolCallPatch } from '../../ports/values/content.ts'
import type { RuleSet } from '../../ports/rules.ts'
import type { PathAccessFilter } from '../../ports/values/path-access.ts'
import type { Tool, ToolPreview } from '../../ports/tools.ts'
import { grantSubjectOf, permissionOptionsFor } from './rule-matcher.ts'
import { isYes } from '../domain/permission-answer.ts'
import type { LiveTurn } from '../turn/live-turn.ts'
import { type PolicyDecision, decidePolicy, deniedBy, pathAccessFilterFor } from './policy.ts'

export interface ToolCallAttempt {
  readonly request: ToolRequest
  readonly tool: Tool
  readonly toolCallId: string
  readonly preview: () => Promise<ToolPreview>
  /** It continues where it stood before a restart, and was reported then. */
  readonly hasBegun: boolean
}

interface Evaluation {
  readonly preview: ToolPreview
  readonly rules: RuleSet
  /** Absent when nothing had to be decided. */
  readonly policy?: PolicyDecision | undefined
}

/** The refusal that the agent reads instead of a result, or the files that the call may reach. */
export type Authorization = { readonly refusal: string } | { readonly access: PathAccessFilter }

/** Reports the call as pending, and asks for permission if that is needed. */
export async function authorizeToolCall(attempt: ToolCallAttempt, turn: LiveTurn): Promise<Authorization> {
  const evaluation = await evaluate(attempt, turn)
  if (evaluation.policy?.decision !== 'ask') return settled(attempt, turn, evaluation)
  if (evaluation.preview.cannotRunReason !== undefined) return unfit(attempt, turn, evaluation)
  return turn.permissions.inLine(async () => {
    // An earlier answer may already cover this call, and files may have changed; evaluate again.
    const now = await evaluate(attempt, turn)
    return now.policy?.decision === 'ask' ? asked(attempt, turn, now) : settled(attempt, turn, now)
  })
}

/** For a call that the agent has permission for, only a rule that denies counts. */
async function evaluate({ request, tool, preview: look }: ToolCallAttempt, turn: LiveTurn): Promise<Evaluation> {
  const [preview, context] = await Promise.all([look(), turn.policyContext()])
  const call = { tool, preview }
  const policy = request.permission === 'granted' ? deniedBy(call, context) : decidePolicy(call, context)
  return { preview, rules: context.rules, policy }
}

async function settled(attempt: ToolCallAttempt, turn: LiveTurn, evaluation: Evaluation): Promise<Authorization> {
  if (!attempt.hasBegun) await turn.report(attempt.toolCallId, announced(attempt, evaluation))
  return evaluation.policy?.decision === 'deny'
    ? { refusal: refusalWords(evaluation.policy) }
    : letRun(attempt, evaluation)
}

/** The call would fail in any case, so no user is asked about it. */
async function unfit(attempt: ToolCallAttempt, turn: LiveTurn, evaluation: Evaluation): Promise<Authorization> {
  const { policy: _notAsked, ...rest } = evaluation
  await turn.report(attempt.toolCallId, announced(attempt, rest))
  return { refusal: evaluation.preview.cannotRunReason ?? '' }
}

function letRun({ tool }: ToolCallAttempt, { preview, rules }: Evaluation): Authorization {
  return { access: pathAccessFilterFor({ tool, preview }, rules) }
}

async function asked(attempt: ToolCallAttempt, turn: LiveTurn, evaluation: Evaluation): Promise<Authorization> {
  const { request, tool, toolCallId } = attempt
  const call = { tool, preview: evaluation.preview }
  const options = permissionOptionsFor(call, evaluation.policy?.eachTime !== true)
  const canAlways = options.some(({ kind }) => kind === 'allow_always')
  const question = { toolCallId, patch: announced(attempt, evaluation), options, state: request.resume }
  const outcome = await turn.askNow(question, canAlways ? grantSubjectOf(call) : undefined)
  return isYes(outcome) ? letRun(attempt, evaluation) : { refusal: 'Not allowed. The tool was not run.' }
}

/** How the call is reported before it runs, with the decision and its reason. */
function announced({ request, tool }: ToolCallAttempt, { preview, policy }: Evaluation): ToolCallPatch {
  const { title, kind, content, locations } = preview
  const isDeniedByRule = policy?.decision === 'deny' && policy.by !== 'mode'
  const isAsked = policy?.decision === 'ask'
  return {
    name: request.name,
    status: 'pending',
    rawInput: request.args,
    // A user who is asked decides by what the tool says of the call, not by the title that the agent gives it.
    title: (isAsked ? undefined : request.title) ?? title ?? `${tool.title} (${tool.server})`,
    kind,
    // The agent can search the journal: the diff of an edit would reveal what a rule keeps from it.
    ...(content && !isDeniedByRule && { content }),
    ...(locations && { locations }),
    ...(policy && { permission: permissionOf(policy) }),
  }
}

function permissionOf({ decision, by, why }: PolicyDecision): PermissionDecision {
  return { decision, by, why }
}

function refusalWords({ by, why }: PolicyDecision): string {
  if (by !== 'mode') return `Not allowed: ${why}. The tool was not run. Do not try to get there another way.`
  return 'Not allowed: this session is in plan mode, where nothing is changed. Read, search and plan, then say what you would do. The tool was not run.'
}
