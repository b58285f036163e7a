/** Reads a script: what its agent offers, and one step per line of JSON. `docs/internals/script.md` shows the format. */
import { fail, reasonOf } from '../../../errors/parley-error.ts'
import type { StopReason } from '../../../ports/agent.ts'
import type { Content, PermissionOption, PlanEntry, ToolCallPatch } from '../../../ports/content.ts'
import { type About, aboutSteps } from './about.ts'
import { contentBlock, toolCallPatch } from './content.ts'
import { type Fields, list, object, oneOf, optionalText, text, whole } from './fields.ts'
import { type ScriptOffer, nothingOffered, offerOf } from './offer.ts'
import { type ClientRequest, clientRequests } from './requests.ts'

export type Step =
  | { readonly kind: 'chunk'; readonly text: string; readonly times: number; readonly everyMs: number }
  | { readonly kind: 'content'; readonly content: Content }
  | { readonly kind: 'thought'; readonly text: string }
  | { readonly kind: 'call'; readonly call: Call }
  | { readonly kind: 'report'; readonly toolCallId: string | undefined; readonly patch: ToolCallPatch }
  | { readonly kind: 'plan'; readonly entries: readonly PlanEntry[] }
  | { readonly kind: 'permission'; readonly permission: Permission }
  | { readonly kind: 'sleep'; readonly ms: number }
  | { readonly kind: 'fail'; readonly reason: string }
  | { readonly kind: 'end'; readonly stopReason: StopReason }
  | { readonly kind: 'client'; readonly request: ClientRequest }
  | About

export interface Script {
  readonly offer: ScriptOffer
  readonly steps: readonly Step[]
}

/** A call of a tool in the registry, by its registry name or its server's own. */
export interface Call {
  readonly name: string
  readonly args: unknown
  readonly toolCallId: string | undefined
  /** Whether it runs is decided as for any agent; else the script has decided. */
  readonly isAsked?: true
}

export interface Permission {
  readonly toolCallId: string | undefined
  readonly patch: ToolCallPatch
  readonly options: readonly PermissionOption[]
  /** What runs once it is allowed. */
  readonly call: Call | undefined
}

/** Throws SCRIPT_INVALID with the number of the line that cannot be played, or that `judge` throws for. Empty lines are skipped. */
export function parseScript(
  path: string,
  source: string,
  judge: (what: ScriptOffer | Step) => void = () => undefined,
): Script {
  const lines = linesOf(source)
  const read = <Result>(number: number, reading: () => Result): Result => {
    try {
      return reading()
    } catch (error) {
      return fail('SCRIPT_INVALID', { path, line: number, reason: reasonOf(error) }, error)
    }
  }
  const [first, ...others] = lines
  const own = first === undefined ? undefined : read(first.number, () => offerIn(first.line))
  const offer = own ?? nothingOffered
  const played = own === undefined ? lines : others
  const steps = played.map(({ line, number }) => read(number, () => stepOf(JSON.parse(line), offer)))
  read(1, () => judge(offer))
  for (const [index, step] of steps.entries()) read(played[index]?.number ?? 1, () => judge(step))
  return { offer, steps }
}

/** What the first line says of the agent; undefined when that is a step already. Throws what is wrong with it. */
export function offerIn(line: string): ScriptOffer | undefined {
  const fields = object(JSON.parse(line), 'a line')
  return 'agent' in fields ? offerOf(fields['agent']) : undefined
}

/** Those that are not empty, numbered from 1. */
export function linesOf(source: string): readonly { readonly line: string; readonly number: number }[] {
  const lines = source.replace(/^\uFEFF/u, '').split('\n')
  return lines.map((line, index) => ({ line, number: index + 1 })).filter(({ line }) => line.trim() !== '')
}

/** By the key that makes it. */
const STEPS: Readonly<Record<string, (fields: Fields) => Step>> = {
  chunk,
  thought: (fields) => ({ kind: 'thought', text: text(fields, 'thought') }),
  toolCall: (fields) => toolCall(object(fields['toolCall'], 'toolCall')),
  plan: (fields) => ({ kind: 'plan', entries: planEntries(fields['plan']) }),
  permission: (fields) => ({ kind: 'permission', permission: permission(object(fields['permission'], 'permission')) }),
  sleepMs: (fields) => ({ kind: 'sleep', ms: whole(fields, 'sleepMs') }),
  fail: (fields) => ({ kind: 'fail', reason: text(fields, 'fail') }),
  end: (fields) => ({ kind: 'end', stopReason: stopReasonOf(oneOf(STOP_REASONS, fields['end'], 'end')) }),
}

/** Scripts use the words of ACP. */
const STOP_REASONS = ['end_turn', 'max_tokens', 'max_turn_requests', 'refusal', 'cancelled'] as const

function stopReasonOf(name: (typeof STOP_REASONS)[number]): StopReason {
  return name === 'max_turn_requests' ? 'max_steps' : name
}

function stepOf(line: unknown, offer: ScriptOffer): Step {
  const fields = object(line, 'a line')
  if ('agent' in fields) throw new Error('only the first line says what the agent offers')
  for (const [key, step] of Object.entries(STEPS)) if (key in fields) return step(fields)
  for (const [key, step] of Object.entries(aboutSteps)) if (key in fields) return step(fields[key], offer)
  for (const [key, request] of Object.entries(clientRequests))
    if (key in fields) return { kind: 'client', request: request(fields[key]) }
  const known = [STEPS, aboutSteps, clientRequests].flatMap((steps) => Object.keys(steps))
  throw new Error(`it has none of ${known.join(', ')}`)
}

function chunk(fields: Fields): Step {
  if (typeof fields['chunk'] === 'object') return { kind: 'content', content: contentBlock(fields['chunk']) }
  const [times, everyMs] = [whole(fields, 'times', 1), whole(fields, 'everyMs', 0)]
  return { kind: 'chunk', text: text(fields, 'chunk'), times, everyMs }
}

const REPORTED = ['status', 'content', 'rawOutput', 'kind', 'locations', 'title'] as const

/** `arguments` make it a call; anything that only a report can say makes it a report. */
function toolCall(fields: Fields): Step {
  const isCall = 'arguments' in fields || ('name' in fields && !REPORTED.some((key) => key in fields))
  if (isCall) return { kind: 'call', call: call(fields) }
  const { toolCallId, ...patch } = fields
  return { kind: 'report', toolCallId: optionalText(toolCallId, 'toolCallId'), patch: toolCallPatch(patch) }
}

function call(fields: Fields): Call {
  const toolCallId = optionalText(fields['toolCallId'], 'toolCallId')
  const isAsked = fields['ask'] === true ? { isAsked: true as const } : {}
  return { name: text(fields, 'name'), args: fields['arguments'] ?? {}, toolCallId, ...isAsked }
}

const DEFAULT_OPTIONS: readonly PermissionOption[] = [
  { optionId: 'allow_once', name: 'Allow', kind: 'allow_once' },
  { optionId: 'reject_once', name: 'Reject', kind: 'reject_once' },
]

/** `{title?, toolCallId?, toolCall?, options?}`; with a `toolCall` that is a call, the call runs once allowed. */
function permission(fields: Fields): Permission {
  const subject = fields['toolCall'] === undefined ? {} : object(fields['toolCall'], 'toolCall')
  const about = { ...subject, ...fields } as Fields
  const { toolCall: _subject, options, name: _name, arguments: _args, toolCallId, ...patch } = about
  const step = 'name' in subject ? call(subject) : undefined
  const title = optionalText(about['title'], 'title') ?? step?.name ?? 'May this go on?'
  return {
    toolCallId: optionalText(toolCallId, 'toolCallId'),
    patch: { ...toolCallPatch(patch), title },
    options: options === undefined ? DEFAULT_OPTIONS : list(options, 'options').map(option),
    call: step,
  }
}

function option(value: unknown): PermissionOption {
  const fields = object(value, 'an option')
  const kind = oneOf(['allow_once', 'allow_always', 'reject_once', 'reject_always'] as const, fields['kind'], 'kind')
  const optionId = text(fields, 'optionId')
  return { optionId, kind, name: optionalText(fields['name'], 'name') ?? optionId }
}

function planEntries(value: unknown): readonly PlanEntry[] {
  return list(value, 'plan').map((entry) => {
    if (typeof entry === 'string') return { content: entry, priority: 'medium', status: 'pending' }
    const fields = object(entry, 'a plan entry')
    const priority = oneOf(['high', 'medium', 'low'] as const, fields['priority'] ?? 'medium', 'priority')
    const status = oneOf(['pending', 'in_progress', 'completed'] as const, fields['status'] ?? 'pending', 'status')
    return { content: text(fields, 'content'), priority, status }
  })
}
