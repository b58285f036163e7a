/**
 * The content of `session/update` and of permission requests, and its check: any agent may send anything, and no program that shows
 * it should break. Everything but the kind is optional: other agents send less, or more.
 */
import { fieldsOf, type Fields } from '../../rpc/json-rpc.ts'

export interface UpdateParams {
  readonly sessionId: string
  readonly update: Update
  readonly _meta?: Readonly<Record<string, unknown>> | null
}

/** Known kinds are read by their fields; any other kind is kept as it is. */
export type Update = { readonly sessionUpdate: string } & Readonly<Record<string, unknown>>

/** The text of a chunk; empty for other content. */
export function textIn({ content }: Update): string {
  const { type, text } = (content ?? {}) as Partial<Content>
  return type === 'text' && typeof text === 'string' ? text : ''
}

export interface Content {
  readonly type: string
  readonly text?: string
  readonly uri?: string
  readonly name?: string
  readonly title?: string | null
  readonly mimeType?: string | null
  readonly resource?: { readonly uri?: string; readonly text?: string }
}

export interface ToolCallUpdate {
  readonly toolCallId: string
  readonly title?: string | null
  readonly kind?: string | null
  readonly status?: string | null
  readonly content?: readonly ToolCallContent[] | null
  readonly locations?: readonly { readonly path: string; readonly line?: number | null }[] | null
  readonly rawInput?: unknown
  readonly rawOutput?: unknown
}

export interface ToolCallContent {
  readonly type: string
  readonly content?: Content
  readonly path?: string
  readonly oldText?: string | null
  readonly newText?: string
  readonly terminalId?: string
}

export interface PlanEntry {
  readonly content: string
  readonly status?: string
  readonly priority?: string
}

export interface Command {
  readonly name: string
  readonly description?: string
  readonly input?: { readonly hint?: unknown } | null
}

/** One of the answers that a permission request offers. */
export interface PermissionOption {
  readonly optionId: string
  readonly name: string
  readonly kind: string
}

/** Returns the value as it may be used: itself if nothing is wrong with it, undefined if it cannot be used. */
type Shape = (value: unknown) => unknown

/** Undefined for what is no update. A part of the wrong type is left out, and an update of an unknown kind stays as it came. */
export function updateIn(params: unknown): UpdateParams | undefined {
  const checked = updateParams(params) as UpdateParams | undefined
  if (checked === undefined) return undefined
  const { update } = checked
  const known = Object.hasOwn(KINDS, update.sessionUpdate) ? KINDS[update.sessionUpdate] : undefined
  const sanitized = known === undefined ? update : known(update)
  if (sanitized === update) return checked
  return sanitized === undefined ? undefined : { ...checked, update: sanitized as Update }
}

/** The tool call of a permission request; it may lack even its id. */
export function callIn(value: unknown): ToolCallUpdate {
  return { toolCallId: '', ...fieldsOf(partialCall(value)) }
}

/** The options that can be chosen. */
export function optionsIn(value: unknown): readonly PermissionOption[] {
  return (options(value) ?? []) as readonly PermissionOption[]
}

/** Entries of a list of sessions. */
export function sessionsIn(value: unknown): readonly Fields[] {
  return (sessions(value) ?? []) as readonly Fields[]
}

const text: Shape = (value) => (typeof value === 'string' ? value : undefined)
const textOrNull: Shape = (value) => (value === null ? null : text(value))

function list(of: Shape): Shape {
  return (value) => (Array.isArray(value) ? value.map(of).filter((one) => one !== undefined) : undefined)
}

/** Unusable without the required members. Other members of the wrong type are left out, and unknown members stay. */
function fields(known: Readonly<Record<string, Shape>>, ...required: readonly string[]): Shape {
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    const given = value as Fields
    const wrong = Object.keys(known).filter(
      (key) => Object.hasOwn(given, key) && known[key]?.(given[key]) !== given[key],
    )
    const usable = wrong.length === 0 ? given : sanitize(given, wrong, known)
    return required.every((key) => Object.hasOwn(usable, key)) ? usable : undefined
  }
}

function sanitize(given: Fields, wrong: readonly string[], known: Readonly<Record<string, Shape>>): Fields {
  const entries = Object.entries(given).map(([key, value]) => [key, wrong.includes(key) ? known[key]?.(value) : value])
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as Fields
}

const content = fields(
  {
    type: text,
    text,
    uri: text,
    name: text,
    title: textOrNull,
    mimeType: textOrNull,
    resource: fields({ uri: text, text }),
  },
  'type',
)
const CALL = {
  toolCallId: text,
  title: textOrNull,
  kind: textOrNull,
  status: textOrNull,
  content: list(
    fields({ type: text, content, path: text, oldText: textOrNull, newText: text, terminalId: text }, 'type'),
  ),
  locations: list(fields({ path: text }, 'path')),
}
const partialCall = fields(CALL)
const call = fields(CALL, 'toolCallId')
const chunk = fields({ content, messageId: textOrNull }, 'content')
const options = list(fields({ optionId: text, name: text, kind: text }, 'optionId', 'name'))
const sessions = list(fields({ sessionId: text, cwd: text, title: textOrNull }, 'sessionId', 'cwd'))

const updateParams = fields(
  { sessionId: text, update: fields({ sessionUpdate: text }, 'sessionUpdate') },
  'sessionId',
  'update',
)

const KINDS: Readonly<Record<string, Shape>> = {
  user_message_chunk: chunk,
  agent_message_chunk: chunk,
  agent_thought_chunk: chunk,
  tool_call: call,
  tool_call_update: call,
  plan: fields({ entries: list(fields({ content: text, status: text, priority: text }, 'content')) }, 'entries'),
  available_commands_update: fields(
    { availableCommands: list(fields({ name: text, description: text }, 'name')) },
    'availableCommands',
  ),
  current_mode_update: fields({ currentModeId: text }, 'currentModeId'),
  config_option_update: fields({ configOptions: list(fields({ id: text, name: text }, 'id')) }, 'configOptions'),
  notice: fields({ title: text, description: text }, 'title'),
}
