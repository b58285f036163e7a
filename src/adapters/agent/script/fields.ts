/** Reads the fields of a script's line: values, and content and tool calls in the shapes of ACP. Throws sentences that say what is wrong. */
import { isAbsolute } from 'node:path'
import type { Content, ToolCallPatch } from '../../../ports/values/content.ts'

export type Fields = Readonly<Record<string, unknown>>

export function object(value: unknown, what: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields
  throw new Error(`${what} must be an object`)
}

export function list(value: unknown, what: string): readonly unknown[] {
  if (Array.isArray(value)) return value as readonly unknown[]
  throw new Error(`${what} must be a list`)
}

export function text(fields: Fields, key: string): string {
  const value = fields[key]
  if (typeof value === 'string') return value
  throw new Error(`${key} must be a text`)
}

export function optionalText(value: unknown, key: string): string | undefined {
  if (value === undefined || typeof value === 'string') return value
  throw new Error(`${key} must be a text`)
}

export function whole(fields: Fields, key: string, otherwise?: number): number {
  const value = fields[key] ?? otherwise
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  throw new Error(`${key} must be a whole number from 0`)
}

export function oneOf<Value extends string>(known: readonly Value[], value: unknown, key: string): Value {
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
export function withMeta({ _meta, ...fields }: Fields): Fields {
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
  const type = oneOf(Object.keys(BLOCKS), block['type'], 'type')
  const [required = [], optional = []] = [BLOCKS[type], OPTIONAL[type]]
  only(block, ['type', 'annotations', ...required, ...optional], `${type} content`)
  for (const key of required) text(block, key)
  for (const key of optional.filter((key) => key !== 'size' && key !== 'resource')) optionalText(block[key], key)
  if ('size' in block) whole(block, 'size')
  if ('annotations' in block) object(block['annotations'], 'annotations')
  const held = type === 'resource' && { resource: resource(object(block['resource'], 'resource')) }
  return { ...withMeta(block), ...held } as unknown as Content
}

function resource(fields: Fields): Fields {
  only(fields, ['uri', 'text', 'blob', 'mimeType'], 'a resource')
  text(fields, 'uri')
  if ('text' in fields === 'blob' in fields) throw new Error('a resource must have a text or a blob')
  text(fields, 'text' in fields ? 'text' : 'blob')
  optionalText(fields['mimeType'] ?? undefined, 'mimeType')
  return withMeta(fields)
}

const PATCH = ['title', 'name', 'kind', 'status', 'content', 'locations', 'rawInput', 'rawOutput'] as const

/** Any fields of an ACP tool call. */
export function toolCallPatch(fields: Fields): ToolCallPatch {
  const { content, locations, ...patch } = withMeta(only(given(fields), PATCH, 'a tool call'))
  for (const key of ['title', 'name']) optionalText(patch[key], key)
  if ('kind' in patch) oneOf(KINDS, patch['kind'], 'kind')
  if ('status' in patch) oneOf(STATUSES, patch['status'], 'status')
  const checked: Fields = {
    ...patch,
    ...(content === undefined ? {} : { content: list(content, 'content').map(toolContent) }),
    ...(locations === undefined ? {} : { locations: list(locations, 'locations').map(location) }),
  }
  return checked
}

function toolContent(value: unknown): Fields {
  const part = given(object(value, 'a part of the content'))
  switch (oneOf(['content', 'diff', 'terminal'], part['type'], 'type')) {
    case 'content':
      only(part, ['type', 'content'], 'a part of the content')
      return { ...withMeta(part), content: contentBlock(part['content']) }
    case 'diff':
      only(part, ['type', 'path', 'oldText', 'newText'], 'a diff')
      text(part, 'newText')
      return { ...withMeta(part), path: absolute(part), oldText: optionalText(part['oldText'], 'oldText') ?? null }
    case 'terminal':
      text(only(part, ['type', 'terminalId'], 'a terminal'), 'terminalId')
      return withMeta(part)
  }
}

function location(value: unknown): Fields {
  const fields = only(given(object(value, 'a location')), ['path', 'line'], 'a location')
  absolute(fields)
  if ('line' in fields && whole(fields, 'line') === 0) throw new Error('line must be a whole number from 1')
  return withMeta(fields)
}

function absolute(fields: Fields): string {
  const path = text(fields, 'path')
  if (!isAbsolute(path)) throw new Error('path must be absolute')
  return path
}
