/** Lists what a server has, page by page, and only what it says that it has. */
import { METHOD_NOT_FOUND, ProtocolError, SdkError, SdkErrorCode, type Client } from '@modelcontextprotocol/client'
import type { Offer, ServerTool } from '../../host/mcp-types.ts'
import { isObject, type JsonObject } from '../../../checking/json.ts'
import { keep, readPrompt, readResourceEntry, readTemplate } from './resources-and-prompts.ts'
import { RAW_RESULT } from '../../transport/response-sanitizer.ts'

/** What servers tell changes of, each on its own. */
export const KINDS = ['tools', 'resources', 'prompts'] as const
export type Kind = (typeof KINDS)[number]

export interface Listing {
  readonly client: Client
  /** The tools of the listing that is under way or was the last, page by page. */
  readonly listed: ServerTool[]
  /** How long each list holds, as far as its server says so. */
  readonly holds: Map<Kind, number>
  readonly timeoutMs: number
  readonly warn: (sentence: string) => void
}

/** A list that goes on for longer has no end. */
const MOST_PAGES = 64
/** Of resources, of templates and of prompts, and the characters of one. */
const MOST_ENTRIES = 5000
const LONGEST_ENTRY = 64 * 1024

export async function list(kind: Kind, listing: Listing, signal: AbortSignal): Promise<Partial<Offer>> {
  if (listing.client.getServerCapabilities()?.[kind] === undefined) return {}
  listing.holds.delete(kind)
  if (kind === 'tools') return { tools: await listTools(listing, signal) }
  const pages = paging(kind, listing, signal)
  if (kind === 'prompts') return { prompts: keep(await pages('prompts/list', 'prompts'), readPrompt) }
  return {
    resources: keep(await pages('resources/list', 'resources'), readResourceEntry),
    templates: keep(await pages('resources/templates/list', 'resourceTemplates'), readTemplate),
  }
}

async function listTools(
  { client, listed, holds, timeoutMs, warn }: Listing,
  signal: AbortSignal,
): Promise<readonly ServerTool[]> {
  listed.length = 0
  const names = await client.listTools(undefined, { cacheMode: 'refresh', timeout: timeoutMs, signal }).then(
    (answer) => {
      hold(holds, 'tools', answer)
      return new Set(answer.tools.map((tool) => tool.name))
    },
    (error: unknown) => {
      if (!(error instanceof SdkError && error.code === SdkErrorCode.ListPaginationExceeded)) throw error
      warn('its list of tools has no end; what came first is used')
      return undefined
    },
  )
  // The protocol layer may have left some out; and a name that comes twice means one tool, for it is called by name.
  const byName = new Map<string, ServerTool>()
  for (const tool of listed) {
    if (names?.has(tool.serverToolName) === false) continue
    if (byName.has(tool.serverToolName))
      warn(`tool ${JSON.stringify(tool.serverToolName.slice(0, 100))} is listed twice; the first counts`)
    else byName.set(tool.serverToolName, tool)
  }
  return [...byName.values()]
}

/** Of several pages the one counts that holds for the shortest time. */
function hold(holds: Map<Kind, number>, kind: Kind, { ttlMs }: JsonObject): void {
  if (typeof ttlMs === 'number') holds.set(kind, Math.min(ttlMs, holds.get(kind) ?? ttlMs))
}

type PagedMethod = 'resources/list' | 'resources/templates/list' | 'prompts/list'

function paging(kind: Kind, { client, holds, timeoutMs, warn }: Listing, signal: AbortSignal) {
  return async (method: PagedMethod, key: string): Promise<readonly unknown[]> => {
    const all: unknown[] = []
    let cursor: string | undefined
    for (let pages = 0; pages < MOST_PAGES; pages++) {
      const page = await onePage(
        client,
        { method, ...(cursor !== undefined && { params: { cursor } }) },
        { timeout: timeoutMs, signal },
      )
      hold(holds, kind, page)
      for (const entry of Array.isArray(page[key]) ? (page[key] as readonly unknown[]) : []) {
        if (all.length >= MOST_ENTRIES) break
        if (JSON.stringify(entry).length > LONGEST_ENTRY) warn(`one of its ${key} is too long and was left out`)
        else all.push(entry)
      }
      if (all.length >= MOST_ENTRIES) {
        warn(`it has more ${key} than anyone reads; the first ${MOST_ENTRIES} are used`)
        return all
      }
      // An empty string is a cursor like any other.
      if (typeof page.nextCursor !== 'string') return all
      cursor = page.nextCursor
    }
    warn(`its answers to ${method} have no end; what came first is used`)
    return all
  }
}

interface PageRequest {
  readonly method: PagedMethod
  readonly params?: { readonly cursor: string }
}

async function onePage(
  client: Client,
  request: PageRequest,
  options: { readonly timeout: number; readonly signal: AbortSignal },
): Promise<JsonObject> {
  try {
    const answer = await client.request({ ...request }, options)
    const raw = answer._meta?.[RAW_RESULT]
    return isObject(raw) ? raw : answer
  } catch (error) {
    // Whoever has resources need not have templates.
    if (error instanceof ProtocolError && error.code === METHOD_NOT_FOUND) return {}
    throw error
  }
}
