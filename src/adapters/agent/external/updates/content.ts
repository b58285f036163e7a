/** Content blocks of ACP v1 as Parley's own, both ways. What does not have the right shape is undefined. */
import { fieldsOf, isFields, type Fields } from '../../../../rpc/json-rpc.ts'
import type {
  Content,
  Meta,
  ToolCallContent,
  ToolCallPatch,
  ToolKind,
  ToolLocation,
  ToolStatus,
} from '../../../../ports/values/content.ts'

/** Characters of a `_meta` as JSON; a larger one is dropped. */
const MAX_META_CHARS = 16 * 1024

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** The `_meta` of a message, if it is small enough to be kept. */
export function metaIn({ _meta: meta }: Fields): { readonly meta?: Meta } {
  if (!isFields(meta) || Object.keys(meta).length === 0) return {}
  return JSON.stringify(meta).length > MAX_META_CHARS ? {} : { meta }
}

export function contentIn(value: unknown): Content | undefined {
  if (!isFields(value)) return undefined
  const { type, annotations } = value
  const about = { ...(isFields(annotations) && { annotations }), ...metaIn(value) }
  switch (type) {
    case 'text':
      return typeof value['text'] === 'string' ? { type, text: value['text'], ...about } : undefined
    case 'image':
    case 'audio':
      return mediaIn(type, value, about)
    case 'resource_link':
      return linkIn(value, about)
    case 'resource':
      return resourceIn(value, about)
    default:
      return undefined
  }
}

type About = Pick<Content, 'annotations' | 'meta'>

function mediaIn(type: 'image' | 'audio', value: Fields, about: About): Content | undefined {
  const { data, mimeType, uri } = value
  if (typeof data !== 'string' || typeof mimeType !== 'string') return undefined
  return { type, data, mimeType, ...(type === 'image' && typeof uri === 'string' && { uri }), ...about }
}

function linkIn(value: Fields, about: About): Content | undefined {
  const { uri, name, title, description, mimeType, size } = value
  if (typeof uri !== 'string') return undefined
  return {
    type: 'resource_link',
    uri,
    name: textOf(name) ?? uri,
    ...(typeof title === 'string' && { title }),
    ...(typeof description === 'string' && { description }),
    ...(typeof mimeType === 'string' && { mimeType }),
    ...(typeof size === 'number' && { size }),
    ...about,
  }
}

function resourceIn(value: Fields, about: About): Content | undefined {
  const resource = fieldsOf(value['resource'])
  const { uri, text, blob, mimeType } = resource
  if (typeof uri !== 'string') return undefined
  const named = { uri, ...(typeof mimeType === 'string' && { mimeType }), ...metaIn(resource) }
  if (typeof text === 'string') return { type: 'resource', resource: { ...named, text }, ...about }
  return typeof blob === 'string' ? { type: 'resource', resource: { ...named, blob }, ...about } : undefined
}

/** As it is sent to an agent. */
export function contentOut(content: Content): object {
  if (content.type !== 'resource') return withMeta(content)
  const { resource, ...about } = content
  return { ...withMeta(about), resource: withMeta(resource) }
}

function withMeta({ meta, ...rest }: { readonly meta?: Meta | null }): object {
  return meta === undefined || meta === null ? rest : { ...rest, _meta: meta }
}

const KINDS: ReadonlySet<string> = new Set<ToolKind>([
  'read',
  'edit',
  'delete',
  'move',
  'search',
  'execute',
  'think',
  'fetch',
  'switch_mode',
  'other',
])
const STATUSES: ReadonlySet<string> = new Set<ToolStatus>(['pending', 'in_progress', 'completed', 'failed'])

/** The fields of a call that are given and make sense. An unknown kind is `other`. */
export function callIn(value: Fields): ToolCallPatch {
  const { title, name, kind, status, content, locations, rawInput, rawOutput } = value
  return {
    ...(typeof title === 'string' && title !== '' && { title }),
    ...(typeof name === 'string' && name !== '' && { name }),
    ...(typeof kind === 'string' && { kind: (KINDS.has(kind) ? kind : 'other') as ToolKind }),
    ...(typeof status === 'string' && STATUSES.has(status) && { status: status as ToolStatus }),
    ...(Array.isArray(content) && { content: content.flatMap((one) => callContentIn(one) ?? []) }),
    ...(Array.isArray(locations) && { locations: locations.flatMap((one) => locationIn(one) ?? []) }),
    ...(rawInput !== undefined && rawInput !== null && { rawInput }),
    ...(rawOutput !== undefined && rawOutput !== null && { rawOutput }),
    ...metaIn(value),
  }
}

function callContentIn(value: unknown): ToolCallContent | undefined {
  const fields = fieldsOf(value)
  switch (fields['type']) {
    case 'content': {
      const content = contentIn(fields['content'])
      return content && { type: 'content', content, ...metaIn(fields) }
    }
    case 'diff': {
      const { path, oldText, newText } = fields
      if (typeof path !== 'string' || typeof newText !== 'string') return undefined
      return { type: 'diff', path, oldText: textOf(oldText) ?? null, newText, ...metaIn(fields) }
    }
    case 'terminal': {
      const { terminalId } = fields
      return typeof terminalId === 'string' ? { type: 'terminal', terminalId, ...metaIn(fields) } : undefined
    }
    default:
      return undefined
  }
}

function locationIn(value: unknown): ToolLocation | undefined {
  const fields = fieldsOf(value)
  const { path, line } = fields
  if (typeof path !== 'string') return undefined
  return { path, ...(typeof line === 'number' && { line }), ...metaIn(fields) }
}
