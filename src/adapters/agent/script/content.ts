/** Content and tool calls as a script writes them: the shapes of ACP, checked before anyone is told of them. */
import { isAbsolute } from 'node:path'
import type { Content, ToolCallPatch } from '../../../ports/content.ts'
import { type Fields, given, list, object, oneOf, only, optionalText, text, whole, withMeta } from './fields.ts'

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
