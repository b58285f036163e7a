/** Keeps what a server offers true: listed again, each kind on its own, when the server says that it changed. */
import { METHOD_NOT_FOUND, ProtocolError, SdkError, SdkErrorCode, type Client } from '@modelcontextprotocol/client'
import { coalesce } from '../../../../async/coalesce.ts'
import { waitAtMost } from '../../../../async/with-timeout.ts'
import type { McpServer } from '../../../../ports/tools.ts'
import { LIST_KINDS, NOTHING, type ListKind, type Offer, type ServerTool } from '../../host/mcp-types.ts'
import { followChanges } from './change-notifications.ts'
import { reasonIn } from '../request/request.ts'
import type { ConnectAttempt, Session } from '../connect/connect-attempt.ts'
import { isObject, type JsonObject } from '../../../checking/json.ts'
import { keep, readPrompt, readResourceEntry, readTemplate } from './entries.ts'
import { RAW_RESULT } from '../../transport/response-sanitizer.ts'

interface Life {
  /** Aborts when the connection ends. */
  readonly over: AbortSignal
  readonly lose: (reason: string) => void
}

interface Kept {
  readonly offer: () => Offer
  readonly latencyMs: () => number
  readonly refreshIfStale: () => void
}

/** Resolves when all was listed for the first time; of resources and prompts that take their time, the tools do not wait. */
export async function keepOffer(session: Session, attempt: ConnectAttempt, { over, lose }: Life): Promise<Kept> {
  const { request, context, redact } = attempt
  const { clock, limits } = context
  const listing: Listing = { ...session, holds: new Map(), timeoutMs: limits.connectMs }
  const listedAt = new Map<ListKind, number>()
  let offer = NOTHING
  let latencyMs = 0

  async function listNow(kind: ListKind, signal: AbortSignal): Promise<boolean> {
    const since = clock.monotonicNow()
    const before = offer
    listedAt.set(kind, since)
    const listed = await list(kind, listing, signal)
    latencyMs = Math.round(clock.monotonicNow() - since)
    offer = { ...before, ...offer, ...listed }
    return JSON.stringify(offer) !== JSON.stringify(before)
  }

  async function relist(kind: ListKind): Promise<boolean> {
    try {
      const changed = await listNow(kind, over)
      if (changed && !over.aborted) request.onOffer()
      return changed
    } catch (error) {
      // What is known stays valid until the server is lost or says more.
      if (!over.aborted) session.warn(`its ${kind} could not be listed again: ${redact(reasonIn(error))}`)
      return false
    } finally {
      firstListed.get(kind)?.()
    }
  }

  const firstListed = new Map<ListKind, () => void>()
  const others = LIST_KINDS.filter((kind) => kind !== 'tools').map(
    (kind) => new Promise<void>((resolve) => firstListed.set(kind, resolve)),
  )
  const { listPauseMs: pauseMs, idleListPauseMs: idlePauseMs } = limits
  const requestListing = new Map<ListKind, () => void>(
    LIST_KINDS.map((kind) => [kind, coalesce(() => relist(kind), { clock, pauseMs, idlePauseMs, signal: over })]),
  )
  let begun = false
  let changedEarly = false
  const onChanged = (kind: ListKind): void => {
    // Two listings of the tools at once would mix their pages.
    if (begun || kind !== 'tools') requestListing.get(kind)?.()
    else changedEarly = true
  }
  const refreshIfStale = (): void => {
    for (const kind of LIST_KINDS) {
      const age = clock.monotonicNow() - (listedAt.get(kind) ?? 0)
      const isOld = age >= Math.max(limits.staleMs, listing.holds.get(kind) ?? 0)
      if (isOld && !tells(kind, session, request.server)) requestListing.get(kind)?.()
    }
  }
  session.listen({ onChanged, onGone: lose })
  followChanges(session.client, { clock, signal: over, onChanged, onGone: lose })
  await listNow('tools', request.signal)
  begun = true
  for (const kind of LIST_KINDS) if (kind !== 'tools' || changedEarly) onChanged(kind)
  await waitAtMost(Promise.all(others), { clock, ms: limits.moreMs, signals: [over, request.signal] })
  return { offer: () => offer, latencyMs: () => latencyMs, refreshIfStale }
}

/** Over the older HTTP a server may say that it tells of changes and have no stream to do so. */
function tells(kind: ListKind, { client }: Session, server: McpServer): boolean {
  const announced = client.getServerCapabilities()?.[kind]?.listChanged === true
  return announced && (server.type === 'stdio' || client.getProtocolEra() === 'modern')
}

interface Listing {
  readonly client: Client
  /** The tools of the listing that is under way or was the last, page by page. */
  readonly listed: ServerTool[]
  /** How long each list holds, as far as its server says so. */
  readonly holds: Map<ListKind, number>
  readonly timeoutMs: number
  readonly warn: (sentence: string) => void
}

/** A list that goes on for longer has no end. */
const MOST_PAGES = 64
/** Of resources, of templates and of prompts, and the characters of one. */
const MOST_ENTRIES = 5000
const LONGEST_ENTRY = 64 * 1024

async function list(kind: ListKind, listing: Listing, signal: AbortSignal): Promise<Partial<Offer>> {
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
function hold(holds: Map<ListKind, number>, kind: ListKind, { ttlMs }: JsonObject): void {
  if (typeof ttlMs === 'number') holds.set(kind, Math.min(ttlMs, holds.get(kind) ?? ttlMs))
}

type PagedMethod = 'resources/list' | 'resources/templates/list' | 'prompts/list'

function paging(kind: ListKind, { client, holds, timeoutMs, warn }: Listing, signal: AbortSignal) {
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
