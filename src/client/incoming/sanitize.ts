/** What an agent tells and asks, made to be as our types say: any agent may send anything, and no face should break over it. */
import type { PermissionOption, ToolCallUpdate, UpdateParams } from './updates.ts'

type Fields = Readonly<Record<string, unknown>>

/** The value as it may be used, itself if nothing is wrong with it; undefined for what cannot be used. */
type Shape = (value: unknown) => unknown

/** Undefined for what is no update; a part of another shape is left out, and a kind that we have no word for stays as it came. */
export function updateIn(params: unknown): UpdateParams | undefined {
  const told = updateParams(params)
  if (told === undefined) return undefined
  const { update } = told as UpdateParams
  const known = Object.hasOwn(KINDS, update.sessionUpdate) ? KINDS[update.sessionUpdate] : undefined
  const made = known === undefined ? update : known(update)
  if (made === update) return told as UpdateParams
  return made === undefined ? undefined : { ...(told as UpdateParams), update: made as UpdateParams['update'] }
}

/** A call that is asked about may lack even its id. */
export function callIn(value: unknown): ToolCallUpdate {
  return { toolCallId: '', ...(someOfCall(value) as Fields | undefined) }
}

/** Those that can be chosen. */
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

/** Unusable without what is required; anything else of another shape is left out, and what we do not know stays. */
function fields(known: Readonly<Record<string, Shape>>, ...required: readonly string[]): Shape {
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    const given = value as Fields
    const wrong = Object.keys(known).filter(
      (key) => Object.hasOwn(given, key) && known[key]?.(given[key]) !== given[key],
    )
    const made = wrong.length === 0 ? given : mended(given, wrong, known)
    return required.every((key) => Object.hasOwn(made, key)) ? made : undefined
  }
}

function mended(given: Fields, wrong: readonly string[], known: Readonly<Record<string, Shape>>): Fields {
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
const someOfCall = fields(CALL)
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
