/** `list_resources`: lists the resources of the session's MCP servers. */
import { z } from 'zod'
import type { Resource, ResourceTemplate, ToolList } from '../../../ports/tools.ts'
import { defineTool, textResult } from '../toolset/tool.ts'
import { failTool } from '../toolset/tool-failure.ts'
import { formatCount } from '../../../text/shorten.ts'

const PAGE_SIZE = 100
/** For servers that are still connecting. Milliseconds; docs/internals/guarantees.md, 9. */
export const SERVERS_TIMEOUT_MS = 10_000
/** Characters that describe one resource. */
const MAX_DESCRIPTION_CHARS = 300

export const listResources = defineTool({
  name: 'list_resources',
  title: 'List resources',
  description:
    'Lists what the MCP servers of this session offer to be read with read_resource: documents, files, records, each by its server and URI, and families of them as URI templates with {holes} to fill in.',
  arguments: z.strictObject({
    server: z.string().min(1).optional().describe('Only those of this server.'),
    query: z.string().min(1).max(200).optional().describe('Only those in whose URI, title or description this occurs.'),
    offset: z.int().min(0).optional().describe('How many to pass over. Default 0.'),
  }),
  kind: 'search',
  readOnly: true,
  preview: ({ server }) => ({ title: server === undefined ? 'List resources' : `List resources of ${server}` }),
  async run({ server, query = '', offset = 0 }, { servers, signal }) {
    const list = await servers.ready(SERVERS_TIMEOUT_MS, signal)
    if (server !== undefined) requireServer(server, list)
    const all = resourceLines(list, server).filter((line) => line.toLowerCase().includes(query.toLowerCase()))
    if (all.length === 0) return textResult(nothing(list))
    const page = all.slice(offset, offset + PAGE_SIZE)
    if (page.length === 0)
      return failTool(`There are ${formatCount(all.length)}; there are none from ${formatCount(offset)} on.`)
    const end = offset + page.length
    const more =
      end < all.length ? [`[${formatCount(end)} of ${formatCount(all.length)}; continue with offset=${end}]`] : []
    return textResult([...page, ...more].join('\n'))
  },
})

/** An unknown server name is refused with the names that exist. */
export function requireServer(server: string, { servers }: ToolList): void {
  if (servers.some(({ name }) => name === server)) return
  const names = servers.map(({ name }) => name).join(', ')
  failTool(
    `There is no MCP server ${JSON.stringify(server.slice(0, 100))}. ${names === '' ? 'There is none.' : `There are: ${names}.`}`,
  )
}

function resourceLines({ resources, templates }: ToolList, server: string | undefined): readonly string[] {
  const isWanted = (one: { readonly server: string }) => server === undefined || one.server === server
  return [
    ...resources.filter(isWanted).map((one) => line(one, one.uri)),
    ...templates.filter(isWanted).map((one) => line(one, `${one.uriTemplate} (template)`)),
  ]
}

function line(one: Resource | ResourceTemplate, uri: string): string {
  const { server, title, description, mimeType } = one
  const size = 'size' in one ? [`${formatCount(one.size ?? 0)} bytes`] : []
  const changed = 'changed' in one ? ['changed since it was read'] : []
  const about = [...(mimeType === undefined ? [] : [mimeType]), ...size, ...changed]
  const said = [title === uri ? '' : title, description].filter((text) => text !== '').join(': ')
  const words = said.replace(/\s+/gu, ' ').slice(0, MAX_DESCRIPTION_CHARS)
  return `- ${server}: ${uri}${words === '' ? '' : ` — ${words}`}${about.length === 0 ? '' : ` [${about.join(', ')}]`}`
}

function nothing({ servers }: ToolList): string {
  const waiting = servers.filter(({ state }) => state !== 'ready').map(({ name, state }) => `${name} is ${state}`)
  return `No resource fits.${waiting.length === 0 ? '' : ` ${waiting.join(', ')}.`}`
}
