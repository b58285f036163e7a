/** Reads a script: one step per line of JSON. DESIGN section 5 has the format; `docs/script.md` shows it. */
import { fail, reasonOf } from '../../../errors/parley-error.ts'
import type { StopReason } from '../../../ports/agent.ts'
import type { PermissionOption, PlanEntry, ToolCallPatch } from '../../../ports/content.ts'

export type Step =
  | { readonly kind: 'chunk'; readonly text: string; readonly times: number; readonly everyMs: number }
  | { readonly kind: 'thought'; readonly text: string }
  | { readonly kind: 'call'; readonly call: Call }
  | { readonly kind: 'report'; readonly toolCallId: string | undefined; readonly patch: ToolCallPatch }
  | { readonly kind: 'plan'; readonly entries: readonly PlanEntry[] }
  | { readonly kind: 'permission'; readonly permission: Permission }
  | { readonly kind: 'sleep'; readonly ms: number }
  | { readonly kind: 'fail'; readonly reason: string }
  | { readonly kind: 'end'; readonly stopReason: StopReason }

/** A call of a tool in the registry, by its registry name or its server's own. */
export interface Call {
  readonly name: string
  readonly args: unknown
  readonly toolCallId: string | undefined
}

export interface Permission {
  readonly toolCallId: string | undefined
  readonly patch: ToolCallPatch
  readonly options: readonly PermissionOption[]
  /** What runs once it is allowed. */
  readonly call: Call | undefined
}

/** Throws SCRIPT_INVALID with the number of the line that cannot be played. Empty lines are skipped. */
export function parseScript(path: string, text: string): readonly Step[] {
  return text
    .replace(/^\uFEFF/u, '')
    .split('\n')
    .flatMap((line, index) => {
      if (line.trim() === '') return []
      try {
        return [stepOf(JSON.parse(line) as unknown)]
      } catch (error) {
        return fail('SCRIPT_INVALID', { path, line: index + 1, reason: reasonOf(error) }, error)
      }
    })
}

type Fields = Readonly<Record<string, unknown>>

function stepOf(line: unknown): Step {
  const fields = object(line, 'a line')
  const kind = KINDS.find((key) => key in fields)
  switch (kind) {
    case 'chunk':
      return {
        kind,
        text: text(fields, 'chunk'),
        times: whole(fields, 'times', 1),
        everyMs: whole(fields, 'everyMs', 0),
      }
    case 'thought':
      return { kind, text: text(fields, 'thought') }
    case 'toolCall':
      return toolCall(object(fields['toolCall'], 'toolCall'))
    case 'plan':
      return { kind, entries: planEntries(fields['plan']) }
    case 'permission':
      return { kind, permission: permission(object(fields['permission'], 'permission')) }
    case 'sleepMs':
      return { kind: 'sleep', ms: whole(fields, 'sleepMs', 0) }
    case 'fail':
      return { kind, reason: text(fields, 'fail') }
    case 'end':
      return { kind, stopReason: oneOf(STOP_REASONS, fields['end'], 'end') }
    default:
      throw new Error(`it has none of ${KINDS.join(', ')}`)
  }
}

const KINDS = ['chunk', 'thought', 'toolCall', 'plan', 'permission', 'sleepMs', 'fail', 'end'] as const
const STOP_REASONS: readonly StopReason[] = ['end_turn', 'max_tokens', 'max_turn_requests', 'refusal', 'cancelled']
const REPORTED = ['status', 'content', 'rawOutput', 'kind', 'locations', 'title'] as const

/** `arguments` make it a call; anything that only a report can say makes it a report. */
function toolCall(fields: Fields): Step {
  const isCall = 'arguments' in fields || ('name' in fields && !REPORTED.some((key) => key in fields))
  if (isCall) return { kind: 'call', call: call(fields) }
  const { toolCallId, ...patch } = fields
  return { kind: 'report', toolCallId: optionalText(toolCallId, 'toolCallId'), patch }
}

function call(fields: Fields): Call {
  const toolCallId = optionalText(fields['toolCallId'], 'toolCallId')
  return { name: text(fields, 'name'), args: fields['arguments'] ?? {}, toolCallId }
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
    patch: { ...(patch as ToolCallPatch), title },
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

function object(value: unknown, what: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields
  throw new Error(`${what} must be an object`)
}

function list(value: unknown, what: string): readonly unknown[] {
  if (Array.isArray(value)) return value as readonly unknown[]
  throw new Error(`${what} must be a list`)
}

function text(fields: Fields, key: string): string {
  const value = fields[key]
  if (typeof value === 'string') return value
  throw new Error(`${key} must be a text`)
}

function optionalText(value: unknown, key: string): string | undefined {
  if (value === undefined || typeof value === 'string') return value
  throw new Error(`${key} must be a text`)
}

function whole(fields: Fields, key: string, otherwise: number): number {
  const value = fields[key] ?? otherwise
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value
  throw new Error(`${key} must be a whole number from 0`)
}

function oneOf<Value extends string>(known: readonly Value[], value: unknown, key: string): Value {
  const found = known.find((candidate) => candidate === value)
  if (found === undefined) throw new Error(`${key} must be one of ${known.join(', ')}`)
  return found
}
