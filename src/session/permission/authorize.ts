/** Decides whether a tool call may run: by rules, mode and earlier answers, and by the user where those do not decide. */
import { SerialQueue } from '../../async/serial.ts'
import type { Question, ToolRequest } from '../../ports/agent.ts'
import type {
  PermissionDecision,
  PermissionOption,
  PermissionOutcome,
  ToolCallPatch,
} from '../../ports/values/content.ts'
import type { GrantSubject, RuleSet } from '../../ports/rules.ts'
import type { PathAccessFilter } from '../../ports/values/path-access.ts'
import type { Tool, ToolPreview } from '../../ports/tools.ts'
import {
  type PolicyDecision,
  type ToolCallSubject,
  decidePolicy,
  deniedBy,
  detailOf,
  grantSubjectOf,
  hostOf,
  isPlainCommand,
  pathAccessFilterFor,
} from './policy.ts'
import { ALWAYS_IN_PROJECT, NEVER_IN_PROJECT, isYes } from '../domain/permission-answer.ts'
import type { SessionLog } from '../log/session-log.ts'
import type { SessionPorts } from '../session-ports.ts'
import type { LiveTurn } from '../turn/live-turn.ts'

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
export type ToolCallAuthorization = { readonly refusal: string } | { readonly access: PathAccessFilter }

/** Reports the call as pending, and asks for permission if that is needed. */
export async function authorizeToolCall(attempt: ToolCallAttempt, turn: LiveTurn): Promise<ToolCallAuthorization> {
  const evaluation = await evaluate(attempt, turn)
  if (evaluation.policy?.decision !== 'ask') return settled(attempt, turn, evaluation)
  if (evaluation.preview.cannotRunReason !== undefined) return unfit(attempt, turn, evaluation)
  return turn.afterEarlierPermissions(async () => {
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

async function settled(
  attempt: ToolCallAttempt,
  turn: LiveTurn,
  evaluation: Evaluation,
): Promise<ToolCallAuthorization> {
  if (!attempt.hasBegun) await turn.report(attempt.toolCallId, announced(attempt, evaluation))
  return evaluation.policy?.decision === 'deny'
    ? { refusal: refusalWords(evaluation.policy) }
    : letRun(attempt, evaluation)
}

/** The call would fail in any case, so no user is asked about it. */
async function unfit(attempt: ToolCallAttempt, turn: LiveTurn, evaluation: Evaluation): Promise<ToolCallAuthorization> {
  const { policy: _notAsked, ...rest } = evaluation
  await turn.report(attempt.toolCallId, announced(attempt, rest))
  return { refusal: evaluation.preview.cannotRunReason ?? '' }
}

function letRun({ tool }: ToolCallAttempt, { preview, rules }: Evaluation): ToolCallAuthorization {
  return { access: pathAccessFilterFor({ tool, preview }, rules) }
}

async function asked(attempt: ToolCallAttempt, turn: LiveTurn, evaluation: Evaluation): Promise<ToolCallAuthorization> {
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

const ONCE: PermissionOption = { optionId: 'allow_once', name: 'Allow once', kind: 'allow_once' }
const REJECT: PermissionOption = { optionId: 'reject_once', name: 'Reject', kind: 'reject_once' }

/** The name of an option that is longer would not be read. */
const MAX_NAME_CHARS = 120

/** The options of a permission request. "Always" is one of them only if the user sees everything that it would hold for. */
export function permissionOptionsFor(call: ToolCallSubject, canAlways: boolean): readonly PermissionOption[] {
  if (!canAlways || !canBeKept(call)) return [ONCE, REJECT]
  const name = toolName(call)
  const places = canBeWritten(call) ? (['session', 'project'] as const) : (['session'] as const)
  const always = places.map((place): PermissionOption => {
    const optionId = place === 'session' ? 'allow_always' : ALWAYS_IN_PROJECT
    return { optionId, name: `Always allow ${name} in this ${place}`, kind: 'allow_always' }
  })
  const never = places.map((place): PermissionOption => {
    const optionId = place === 'session' ? 'reject_always' : NEVER_IN_PROJECT
    return { optionId, name: `Never allow ${name} in this ${place}`, kind: 'reject_always' }
  })
  return [ONCE, ...always, REJECT, ...never]
}

/** A tool that runs commands is never allowed as a whole when its arguments could not be read. */
function canBeKept(call: ToolCallSubject): boolean {
  const { tool, preview } = call
  const detail = detailOf(call)
  if (detail === undefined) return !tool.builtin || !['execute', 'fetch'].includes(preview.kind)
  const isSaid = detail.key === 'command' || hostOf(preview.url ?? '') !== undefined
  return isSaid && detail.value.length <= MAX_NAME_CHARS && !UNSEEN.test(detail.value)
}

const UNSEEN = /[\p{Cc}\p{Cf}]/u
const SECRET = /key|token|secret|passw|auth|credential|:\/\/[^/\s]*@|^\s*\w+=/iu

/** A rule in a file is a pattern and stays there: it must not hold a secret, nor match more than this command. */
function canBeWritten(call: ToolCallSubject): boolean {
  const { key, value } = detailOf(call) ?? { key: 'tool', value: '' }
  return key !== 'command' || (isPlainCommand(value) && !/[*?]/u.test(value) && !SECRET.test(value))
}

function toolName(call: ToolCallSubject): string {
  const { title, server, builtin } = call.tool
  const detail = detailOf(call)
  if (detail?.key === 'command') return detail.value
  const tool = shortTitle(builtin ? title : `${title} (${server})`)
  return detail === undefined ? tool : `${tool} from ${detail.value}`
}

/** The title of a tool comes from its server and may have any characters. */
function shortTitle(text: string): string {
  const line = text.replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
  return line.length > MAX_NAME_CHARS ? `${line.slice(0, MAX_NAME_CHARS - 1)}…` : line
}

/** The permission requests of a running turn: each stored before a client sees it, and answered by a client. */
export class PermissionPrompts {
  readonly #ports: Pick<SessionPorts, 'clock' | 'faults'>
  readonly #log: SessionLog
  readonly #turnId: string
  /** By their ids. Those of Parley's own tool calls are asked one after the other. */
  readonly #open = new Map<string, (outcome: PermissionOutcome) => void>()
  readonly #queue = new SerialQueue()

  constructor(ports: Pick<SessionPorts, 'clock' | 'faults'>, log: SessionLog, turnId: string) {
    this.#ports = ports
    this.#log = log
    this.#turnId = turnId
  }

  /** Runs `work` after the requests before it were answered. */
  inLine<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#queue.run(work)
  }

  /** Resolves `cancelled` if the turn is cancelled or over. */
  async ask(
    { toolCallId, patch, options, state, survives }: Question,
    grant?: GrantSubject,
  ): Promise<PermissionOutcome> {
    const { clock, faults } = this.#ports
    const requestId = clock.id()
    const answer = new Promise<PermissionOutcome>((resolve) => void this.#open.set(requestId, resolve))
    const lives = survives === undefined ? {} : { survives }
    const ask = { toolCallId, patch, options, resume: state, ...(grant && { grant }), ...lives }
    try {
      const entries = await this.#log.dispatch({ kind: 'ask', turnId: this.#turnId, requestId, ask })
      if (entries.length === 0) return { outcome: 'cancelled' }
      await faults.at('permission.asked')
      const outcome = await answer
      await faults.at('permission.answered')
      return outcome
    } finally {
      this.#open.delete(requestId)
    }
  }

  answered(requestId: string, outcome: PermissionOutcome): void {
    this.#open.get(requestId)?.(outcome)
  }

  /** The turn can no longer be stored, so no answer can come. */
  drop(): void {
    for (const resolve of this.#open.values()) resolve({ outcome: 'cancelled' })
  }
}
