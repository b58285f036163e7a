/**
 * Reads the offer of a script's agent from its first line: modes, options, and the kinds of prompt content that it takes. Has the
 * readers of fields that the steps use too; they throw sentences that say what is wrong.
 */
import type { PromptKinds } from '../../../ports/agent.ts'
import type { Choice, ConfigOption, ConfigValue, Mode, Modes } from '../../../ports/values/settings.ts'
import { isAbsolute } from 'node:path'
import type { Content, ToolCallPatch } from '../../../ports/values/content.ts'
import type { Fields } from '../../../rpc/json-rpc.ts'

export interface ScriptOffer {
  readonly modes?: Modes
  readonly configOptions: readonly ConfigOption[]
  readonly accepts: PromptKinds
}

export const NO_OFFER: ScriptOffer = {
  configOptions: [],
  accepts: { image: false, audio: false, embeddedContext: false },
}

/** `{modes?, configOptions?, promptCapabilities?}` as ACP has them. */
function offerOf(value: unknown): ScriptOffer {
  const fields = given(object(value, 'agent'))
  only(fields, ['modes', 'configOptions', 'promptCapabilities'], 'agent')
  const { modes, configOptions = [], promptCapabilities = {} } = fields
  const options = list(configOptions, 'configOptions').map(option)
  unique(options, 'configOptions')
  return {
    ...(modes === undefined ? {} : { modes: modesOf(object(modes, 'modes')) }),
    configOptions: options,
    accepts: kinds(object(promptCapabilities, 'promptCapabilities')),
  }
}

/** Throws when the agent has no such mode. */
export function requireMode({ modes }: ScriptOffer, modeId: string): string {
  const ids = modes?.availableModes.map(({ id }) => id) ?? []
  return requiredChoice(ids, modeId, 'mode')
}

/** Throws when the agent has no such option, or the option cannot have that value. */
export function requireValue({ configOptions }: ScriptOffer, configId: string, value: unknown): ConfigValue {
  const ids = configOptions.map(({ id }) => id)
  const found = configOptions.find(({ id }) => id === requiredChoice(ids, configId, 'configId'))
  if (found?.type === 'boolean') return flag({ value }, 'value')
  return requiredChoice(found === undefined ? [] : choicesOf(found.options).map((one) => one.value), value, 'value')
}

function modesOf(fields: Fields): Modes {
  only(fields, ['currentModeId', 'availableModes'], 'modes')
  const availableModes = list(fields['availableModes'], 'availableModes').map(mode)
  unique(availableModes, 'availableModes')
  const ids = availableModes.map(({ id }) => id)
  return { currentModeId: requiredChoice(ids, fields['currentModeId'], 'currentModeId'), availableModes }
}

function mode(value: unknown): Mode {
  const fields = only(given(object(value, 'a mode')), ['id', 'name', 'description'], 'a mode')
  for (const key of ['id', 'name']) requiredText(fields, key)
  optionalText(fields['description'], 'description')
  return withMeta(fields) as unknown as Mode
}

const OPTION = ['id', 'name', 'description', 'category', 'type', 'currentValue', 'options']

function option(value: unknown): ConfigOption {
  const fields = only(given(object(value, 'an option')), OPTION, 'an option')
  for (const key of ['id', 'name']) requiredText(fields, key)
  for (const key of ['description', 'category']) optionalText(fields[key], key)
  if (requiredChoice(['select', 'boolean'], fields['type'], 'type') === 'boolean') flag(fields, 'currentValue')
  else requiredChoice(choices(fields['options']), fields['currentValue'], 'currentValue')
  const offered = withMeta(fields)
  const held = Array.isArray(offered['options']) && { options: offered['options'].map(choiceWithMeta) }
  return { ...offered, ...held } as unknown as ConfigOption
}

/** The values of the choices, which stand in groups or in one list. */
function choices(value: unknown): readonly string[] {
  const all = list(value, 'options').map((one) => object(one, 'a choice'))
  const isGrouped = all.some((one) => 'group' in one)
  if (isGrouped) for (const group of all) for (const key of ['group', 'name']) requiredText(group, key)
  const flat = isGrouped ? all.flatMap((group) => list(group['options'], 'options')) : all
  return flat.map((one) => choice(object(one, 'a choice')))
}

function choice(fields: Fields): string {
  const { value, name, description } = only(given(fields), ['value', 'name', 'description'], 'a choice')
  requiredText({ name }, 'name')
  optionalText(description, 'description')
  return requiredText({ value }, 'value')
}

function choiceWithMeta(choice: Fields): Fields {
  const { options } = choice
  return withMeta(Array.isArray(options) ? { ...choice, options: options.map(withMeta) } : choice)
}

function choicesOf(options: (ConfigOption & { readonly type: 'select' })['options']): readonly Choice[] {
  return options.flatMap((one): readonly Choice[] => ('group' in one ? one.options : [one]))
}

function kinds(fields: Fields): PromptKinds {
  only(fields, ['image', 'audio', 'embeddedContext'], 'promptCapabilities')
  const isTaken = (key: string) => key in fields && flag(fields, key)
  return { image: isTaken('image'), audio: isTaken('audio'), embeddedContext: isTaken('embeddedContext') }
}

function flag(fields: Fields, key: string): boolean {
  const value = fields[key]
  if (typeof value === 'boolean') return value
  throw new Error(`${key} must be true or false`)
}

function unique(all: readonly { readonly id: string }[], what: string): void {
  if (new Set(all.map(({ id }) => id)).size < all.length) throw new Error(`${what} has an id twice`)
}

export function object(value: unknown, what: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields
  throw new Error(`${what} must be an object`)
}

export function list(value: unknown, what: string): readonly unknown[] {
  if (Array.isArray(value)) return value as readonly unknown[]
  throw new Error(`${what} must be a list`)
}

export function requiredText(fields: Fields, key: string): string {
  const value = fields[key]
  if (typeof value === 'string') return value
  throw new Error(`${key} must be a text`)
}

export function optionalText(value: unknown, key: string): string | undefined {
  if (value === undefined || typeof value === 'string') return value
  throw new Error(`${key} must be a text`)
}

export function requiredInteger(fields: Fields, key: string, otherwise?: number): number {
  const value = fields[key] ?? otherwise
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  throw new Error(`${key} must be a whole number from 0`)
}

export function requiredChoice<Value extends string>(known: readonly Value[], value: unknown, key: string): Value {
  const found = known.find((candidate) => candidate === value)
  if (found === undefined) throw new Error(`${key} must be one of ${known.join(', ')}`)
  return found
}

/** Throws for a field that the standard does not know; extensions belong into `_meta`. */
export function only(fields: Fields, known: readonly string[], what: string): Fields {
  const odd = Object.keys(fields).find((key) => key !== '_meta' && !known.includes(key))
  if (odd !== undefined) throw new Error(`${what} has no field ${odd}`)
  if (isGiven(fields['_meta'])) object(fields['_meta'], '_meta')
  return fields
}

/** Renames `_meta`, the field of ACP, to `meta`. */
function withMeta({ _meta, ...fields }: Fields): Fields {
  return isGiven(_meta) ? { ...fields, meta: _meta } : fields
}

/** The fields that are present; null counts as absent. */
export function given(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => isGiven(value)))
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null
}

const KINDS = ['read', 'edit', 'delete', 'move', 'search', 'execute', 'think', 'fetch', 'switch_mode', 'other'] as const

const STATUSES = ['pending', 'in_progress', 'completed', 'failed'] as const

const BLOCKS: Readonly<Record<string, readonly string[]>> = {
  text: ['text'],
  image: ['data', 'mimeType'],
  audio: ['data', 'mimeType'],
  resource_link: ['uri', 'name'],
  resource: [],
}

const OPTIONAL: Readonly<Record<string, readonly string[]>> = {
  image: ['uri'],
  resource_link: ['title', 'description', 'mimeType', 'size'],
  resource: ['resource'],
}

export function contentBlock(value: unknown): Content {
  const block = given(object(value, 'content'))
  const type = requiredChoice(Object.keys(BLOCKS), block['type'], 'type')
  const [required = [], optional = []] = [BLOCKS[type], OPTIONAL[type]]
  only(block, ['type', 'annotations', ...required, ...optional], `${type} content`)
  for (const key of required) requiredText(block, key)
  for (const key of optional.filter((key) => key !== 'size' && key !== 'resource')) optionalText(block[key], key)
  if ('size' in block) requiredInteger(block, 'size')
  if ('annotations' in block) object(block['annotations'], 'annotations')
  const held = type === 'resource' && { resource: resource(object(block['resource'], 'resource')) }
  return { ...withMeta(block), ...held } as unknown as Content
}

function resource(fields: Fields): Fields {
  only(fields, ['uri', 'text', 'blob', 'mimeType'], 'a resource')
  requiredText(fields, 'uri')
  if ('text' in fields === 'blob' in fields) throw new Error('a resource must have a text or a blob')
  requiredText(fields, 'text' in fields ? 'text' : 'blob')
  optionalText(fields['mimeType'] ?? undefined, 'mimeType')
  return withMeta(fields)
}

const PATCH = ['title', 'name', 'kind', 'status', 'content', 'locations', 'rawInput', 'rawOutput'] as const

/** Any fields of an ACP tool call. */
export function toolCallPatch(fields: Fields): ToolCallPatch {
  const { content, locations, ...patch } = withMeta(only(given(fields), PATCH, 'a tool call'))
  for (const key of ['title', 'name']) optionalText(patch[key], key)
  if ('kind' in patch) requiredChoice(KINDS, patch['kind'], 'kind')
  if ('status' in patch) requiredChoice(STATUSES, patch['status'], 'status')
  const checked: Fields = {
    ...patch,
    ...(content === undefined ? {} : { content: list(content, 'content').map(toolContent) }),
    ...(locations === undefined ? {} : { locations: list(locations, 'locations').map(location) }),
  }
  return checked
}

function toolContent(value: unknown): Fields {
  const part = given(object(value, 'a part of the content'))
  switch (requiredChoice(['content', 'diff', 'terminal'], part['type'], 'type')) {
    case 'content':
      only(part, ['type', 'content'], 'a part of the content')
      return { ...withMeta(part), content: contentBlock(part['content']) }
    case 'diff':
      only(part, ['type', 'path', 'oldText', 'newText'], 'a diff')
      requiredText(part, 'newText')
      return { ...withMeta(part), path: absolute(part), oldText: optionalText(part['oldText'], 'oldText') ?? null }
    case 'terminal':
      requiredText(only(part, ['type', 'terminalId'], 'a terminal'), 'terminalId')
      return withMeta(part)
  }
}

function location(value: unknown): Fields {
  const fields = only(given(object(value, 'a location')), ['path', 'line'], 'a location')
  absolute(fields)
  if ('line' in fields && requiredInteger(fields, 'line') === 0) throw new Error('line must be a whole number from 1')
  return withMeta(fields)
}

function absolute(fields: Fields): string {
  const path = requiredText(fields, 'path')
  if (!isAbsolute(path)) throw new Error('path must be absolute')
  return path
}

/** The offer in the first line; undefined if the first line is a step already. Throws a sentence that names the mistake. */
export function offerIn(line: string): ScriptOffer | undefined {
  const fields = object(JSON.parse(line), 'a line')
  return 'agent' in fields ? offerOf(fields['agent']) : undefined
}

/** The lines that are not empty, numbered from 1. */
export function numberedLines(source: string): readonly { readonly line: string; readonly number: number }[] {
  const lines = source.replace(/^\uFEFF/u, '').split('\n')
  return lines.map((line, index) => ({ line, number: index + 1 })).filter(({ line }) => line.trim() !== '')
}
