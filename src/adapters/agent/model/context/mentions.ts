/** Reads the MCP resources that a prompt mentions, as `@server:uri` or as a link to a listed one. */
import { reasonOf } from '../../../../errors/parley-error.ts'
import type { Turn } from '../../../../ports/agent.ts'
import type { Content, EmbeddedResource } from '../../../../ports/values/content.ts'
import type { ModelMessage } from '../../../../ports/model.ts'
import type { ToolList } from '../../../../ports/tools.ts'
/** Mentions of one prompt that are read; the model may read further ones itself. */
const MAX_MENTIONS = 8
/** Characters of one text. */
const MAX_MENTION_CHARS = 30_000

interface Mention {
  readonly server: string
  readonly uri: string
}

/**
 * The messages with the mentioned resources behind them. Only the text that the user typed is searched for mentions. Text
 * of an MCP server, or of a project's prompt file, could otherwise make Parley read from any other server.
 */
export async function withMentioned(turn: Turn, messages: readonly ModelMessage[]): Promise<readonly ModelMessage[]> {
  const mentions = mentionsIn(turn.prompt, turn.tools.list())
  if (mentions.length === 0) return messages
  const content = (await Promise.all(mentions.map((one) => contentOf(turn, one)))).flat()
  const at = messages.findLastIndex(({ role }) => role === 'user')
  const asked = messages[at]
  if (asked?.role !== 'user') return [...messages, { role: 'user', content }]
  return messages.with(at, { ...asked, content: [...asked.content, ...content] })
}

function mentionsIn(content: readonly Content[], list: ToolList): readonly Mention[] {
  const found = new Map<string, Mention>()
  for (const block of content)
    for (const one of mentionsInBlock(block, list)) found.set(JSON.stringify([one.server, one.uri]), one)
  const enclosed = new Set(content.flatMap((block) => (block.type === 'resource' ? [block.resource.uri] : [])))
  return [...found.values()].filter(({ uri }) => !enclosed.has(uri)).slice(0, MAX_MENTIONS)
}

function mentionsInBlock(block: Content, { servers, resources }: ToolList): readonly Mention[] {
  if (block.type === 'resource_link') return resources.filter(({ uri }) => uri === block.uri).slice(0, 1)
  if (block.type !== 'text') return []
  const typed = [...block.text.matchAll(/(?<![\w@])@([^\s:@]+):([a-z][\w+.-]*:\S*[^\s.,;:!?)\]}"'>])/giu)]
  return typed.flatMap(([, server = '', uri = '']) =>
    servers.some(({ name }) => name === server) ? [{ server, uri }] : [],
  )
}

async function contentOf({ tools, signal }: Turn, { server, uri }: Mention): Promise<readonly Content[]> {
  try {
    const bodies = await tools.read(server, uri, { signal })
    return bodies.map(resourceContent)
  } catch (error) {
    return [{ type: 'text', text: `[@${server}:${uri} could not be read: ${reasonOf(error)}]` }]
  }
}

function resourceContent(resource: EmbeddedResource['resource']): Content {
  if (!('text' in resource)) {
    const mimeType = resource.mimeType ?? ''
    return mimeType.startsWith('image/')
      ? { type: 'image', data: resource.blob, mimeType }
      : { type: 'resource', resource }
  }
  if (resource.text.length <= MAX_MENTION_CHARS) return { type: 'resource', resource }
  const text = `${resource.text.slice(0, MAX_MENTION_CHARS)}\n[… ${resource.text.length - MAX_MENTION_CHARS} more characters]`
  return { type: 'resource', resource: { ...resource, text } }
}
