/** Parses a server's resources, templates and prompts one by one, so that a malformed entry only loses itself. */
import type { EmbeddedResource } from '../../../../ports/values/content.ts'
import type { PromptArgument, PromptMessage } from '../../../../ports/tools.ts'
import type { ServerPrompt, ServerResource, ServerTemplate } from '../../host/mcp-types.ts'
import { readBody, readContent } from '../request/result-content.ts'
import { isObject, nonEmptyText, type JsonObject } from '../../../checking/json.ts'

export function readResourceEntry(entry: JsonObject): ServerResource | undefined {
  const uri = nonEmptyText(entry, 'uri')
  if (uri === undefined) return undefined
  const { size } = entry
  return {
    uri,
    ...describe(entry, uri),
    ...(Number.isSafeInteger(size) && Number(size) >= 0 && { size: Number(size) }),
  }
}

export function readTemplate(entry: JsonObject): ServerTemplate | undefined {
  const uriTemplate = nonEmptyText(entry, 'uriTemplate')
  return uriTemplate === undefined ? undefined : { uriTemplate, ...describe(entry, uriTemplate) }
}

export function readPrompt(entry: JsonObject): ServerPrompt | undefined {
  const original = nonEmptyText(entry, 'name')
  if (original === undefined) return undefined
  const { title, description } = describe(entry, original)
  const listed: readonly unknown[] = Array.isArray(entry.arguments) ? entry.arguments : []
  return { serverPromptName: original, title, description, arguments: parsedEntries(listed, readArgument) }
}

/** The entries that can be parsed, in order. */
export function parsedEntries<Kept>(
  listed: readonly unknown[],
  read: (entry: JsonObject) => Kept | undefined,
): readonly Kept[] {
  return listed.flatMap((entry) => {
    const kept = isObject(entry) ? read(entry) : undefined
    return kept === undefined ? [] : [kept]
  })
}

export function readBodies(raw: JsonObject): readonly EmbeddedResource['resource'][] {
  return parsedEntries(Array.isArray(raw.contents) ? raw.contents : [], readBody)
}

export function readMessages(raw: JsonObject): readonly PromptMessage[] {
  return parsedEntries(Array.isArray(raw.messages) ? raw.messages : [], ({ role, content }) => ({
    // Any role but `assistant` counts as the user: a server's text never gets the rank of a system message.
    role: role === 'assistant' ? 'assistant' : 'user',
    content: readContent(content),
  }))
}

function readArgument(entry: JsonObject): PromptArgument | undefined {
  const name = nonEmptyText(entry, 'name')
  if (name === undefined) return undefined
  const { title, description } = describe(entry, name)
  return { name, title, description, required: entry.required === true }
}

function describe(entry: JsonObject, otherwise: string): { title: string; description: string; mimeType?: string } {
  const mimeType = nonEmptyText(entry, 'mimeType')
  return {
    title: nonEmptyText(entry, 'title') ?? nonEmptyText(entry, 'name') ?? otherwise,
    description: nonEmptyText(entry, 'description') ?? '',
    ...(mimeType !== undefined && { mimeType }),
  }
}
