/** What a prompt mentions of MCP servers, as `@server:uri` or as a link to what they list, is read for the model; and what of it changes later is told. */
import { reasonOf } from '../../../../errors/parley-error.ts'
import type { Turn } from '../../../../ports/agent.ts'
import type { Content, EmbeddedResource } from '../../../../ports/content.ts'
import type { ModelMessage } from '../../../../ports/model.ts'
import type { ToolList } from '../../../../ports/tools.ts'
import type { Context } from './context.ts'
import type { TurnWork } from '../loop/work.ts'

/** More of one prompt are left to the model to read. */
const MOST = 8
/** Characters of one text. */
const LONGEST = 30_000

interface Mention {
  readonly server: string
  readonly uri: string
}

/**
 * The messages with what the person mentioned behind them. Only the prompt as it was typed is searched: what a server made of
 * it, or a file of the project, could otherwise make Parley read from any other server.
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
  return [...found.values()].filter(({ uri }) => !enclosed.has(uri)).slice(0, MOST)
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
    return bodies.map(shown)
  } catch (error) {
    return [{ type: 'text', text: `[@${server}:${uri} could not be read: ${reasonOf(error)}]` }]
  }
}

function shown(resource: EmbeddedResource['resource']): Content {
  if (!('text' in resource)) {
    const mimeType = resource.mimeType ?? ''
    return mimeType.startsWith('image/')
      ? { type: 'image', data: resource.blob, mimeType }
      : { type: 'resource', resource }
  }
  if (resource.text.length <= LONGEST) return { type: 'resource', resource }
  const text = `${resource.text.slice(0, LONGEST)}\n[… ${resource.text.length - LONGEST} more characters]`
  return { type: 'resource', resource: { ...resource, text } }
}

/** What each model was told of changes, as long as they stand. */
const told = new WeakMap<Context, Set<string>>()

/** Undefined when nothing has changed that the model has read and does not know of. */
export function changesFor({ turn, context }: TurnWork): string | undefined {
  const known = told.get(context) ?? new Set()
  const changed = turn.tools.list().resources.filter((one) => one.changed === true)
  const names = changed.map(({ server, uri }) => `${server} ${uri}`)
  const news = names.filter((name) => !known.has(name))
  told.set(context, new Set(names))
  if (news.length === 0) return undefined
  return `Changed since it was read, and to be read again with read_resource if it matters: ${news.join(', ')}`
}
