/** Turns a tool's answer into content that Parley stores and shows. Unknown parts become a note. */
import type { Content, EmbeddedResource } from '../../../../ports/values/content.ts'
import type { ToolResult } from '../../../../ports/tools.ts'
import { isNestedDeeper } from '../../../../text/nesting.ts'
import { isObject, nonEmptyText, type JsonObject } from '../../../checking/json.ts'

/** Text and base64 of one result. */
const MAX_RESULT_CHARS = 10 * 1024 * 1024

/** Parts of one result: each costs more than its text to store, send and show. */
const MAX_PARTS = 10_000

/** Some clients cannot parse JSON nested deeper than 127 levels, and results stand a few levels deep in a message. */
const MAX_DEPTH = 100

const TOO_DEEP: Content = {
  type: 'text',
  text: `[Left out: structured content that is nested more than ${MAX_DEPTH} levels deep. Ask the tool for less.]`,
}

export function parseToolResult(raw: JsonObject, limit = MAX_RESULT_CHARS): ToolResult {
  const content = withinLimit(readParts(Array.isArray(raw.content) ? raw.content : []), limit)
  const structured = raw.structuredContent
  if (structured === undefined || structured === null) return { content, isError: raw.isError === true }
  if (isNestedDeeper(structured, MAX_DEPTH)) return { content: [...content, TOO_DEEP], isError: raw.isError === true }
  const text = JSON.stringify(structured)
  if (text.length > limit) {
    return {
      content: [...content, note(`structured content of ${text.length} characters`, limit)],
      isError: raw.isError === true,
    }
  }
  // Old servers send only structured content; readers of `content` get it as text.
  const shown: readonly Content[] = content.length > 0 ? content : [{ type: 'text', text }]
  return { content: shown, structured, isError: raw.isError === true }
}

function readParts(parts: readonly unknown[]): readonly Content[] {
  const read = parts.slice(0, MAX_PARTS).map(readContent)
  if (parts.length <= MAX_PARTS) return read
  const text = `[Left out: ${parts.length - MAX_PARTS} more parts. One result may have ${MAX_PARTS}; ask the tool for less.]`
  return [{ type: 'text', text }, ...read]
}

export function readContent(item: unknown): Content {
  if (!isObject(item)) return unknown(typeof item)
  const more = extras(item)
  switch (item.type) {
    case 'text':
      return typeof item.text === 'string' ? { type: 'text', text: item.text, ...more } : unknown('text')
    case 'image':
    case 'audio':
      return readMedia(item, item.type)
    case 'resource_link':
      return readLink(item)
    case 'resource':
      return readResource(item)
    default:
      return unknown(nonEmptyText(item, 'type') ?? 'unnamed')
  }
}

function readMedia(item: JsonObject, type: 'image' | 'audio'): Content {
  const { data, mimeType } = item
  if (typeof data !== 'string' || typeof mimeType !== 'string' || !isBase64(data)) return unknown(type)
  return { type, data, mimeType, ...extras(item) }
}

function readLink(item: JsonObject): Content {
  const uri = nonEmptyText(item, 'uri')
  if (uri === undefined) return unknown('resource_link')
  const described = optionalTexts(item, ['title', 'description', 'mimeType'])
  const size = Number.isSafeInteger(item.size) && Number(item.size) >= 0 ? { size: Number(item.size) } : {}
  return { type: 'resource_link', uri, name: nonEmptyText(item, 'name') ?? uri, ...described, ...size, ...extras(item) }
}

function readResource(item: JsonObject): Content {
  const resource = isObject(item.resource) ? readBody(item.resource) : undefined
  return resource === undefined ? unknown('resource') : { type: 'resource', resource, ...extras(item) }
}

export function readBody(resource: JsonObject): EmbeddedResource['resource'] | undefined {
  const { uri, text, blob } = resource
  if (typeof uri !== 'string') return undefined
  const more = { ...optionalTexts(resource, ['mimeType']), ...metaOf(resource) }
  if (typeof text === 'string') return { uri, text, ...more }
  return typeof blob === 'string' && isBase64(blob) ? { uri, blob, ...more } : undefined
}

function optionalTexts(item: JsonObject, keys: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(keys.flatMap((key) => (typeof item[key] === 'string' ? [[key, item[key]]] : [])))
}

function extras(item: JsonObject): Pick<Content, 'annotations' | 'meta'> {
  return {
    ...(isObject(item.annotations) && { annotations: readAnnotations(item.annotations) }),
    ...metaOf(item),
  }
}

function metaOf({ _meta }: JsonObject): Pick<Content, 'meta'> {
  return isObject(_meta) && !isNestedDeeper(_meta, MAX_DEPTH) ? { meta: _meta } : {}
}

/** Clients reject a whole update because of one annotation that the protocol does not know. */
function readAnnotations({ audience, priority, lastModified }: JsonObject): Readonly<Record<string, unknown>> {
  return {
    ...(Array.isArray(audience) && { audience: audience.filter((who) => who === 'user' || who === 'assistant') }),
    ...(typeof priority === 'number' && { priority }),
    ...(typeof lastModified === 'string' && { lastModified }),
  }
}

function isBase64(data: string): boolean {
  return data.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(data)
}

function unknown(type: string): Content {
  return { type: 'text', text: `[The tool answered with content that Parley cannot show: ${type.slice(0, 60)}.]` }
}

/** Keeps items in order up to the limit. Text that exceeds it is cut, data that exceeds it is left out. */
export function withinLimit(items: readonly Content[], limit = MAX_RESULT_CHARS): readonly Content[] {
  const kept: Content[] = []
  let room = limit
  for (const item of items) {
    const size = sizeOf(item)
    if (size <= room) {
      kept.push(item)
      room -= size
    } else if (item.type === 'text') {
      kept.push(
        { ...item, text: item.text.slice(0, room) },
        note(`the rest of a text of ${item.text.length} characters`, limit),
      )
      room = 0
    } else {
      kept.push(note(`${item.type} of ${size} characters`, limit))
    }
  }
  return kept
}

function sizeOf(item: Content): number {
  if (item.type === 'text') return item.text.length
  if (item.type === 'resource_link') return item.uri.length + item.name.length + (item.description?.length ?? 0)
  if (item.type === 'resource') return 'text' in item.resource ? item.resource.text.length : item.resource.blob.length
  return item.data.length
}

function note(what: string, limit: number): Content {
  return { type: 'text', text: `[Left out: ${what}. One result may hold ${limit} characters; ask the tool for less.]` }
}
