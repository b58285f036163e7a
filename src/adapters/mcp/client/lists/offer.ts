/** Lists what a server offers, and lists each kind again when the server reports a change. */
import { METHOD_NOT_FOUND, ProtocolError, SdkError, SdkErrorCode, type Client } from '@modelcontextprotocol/client'
import { coalesce } from '../../../../async/coalesce.ts'
import { waitAtMost } from '../../../../async/with-timeout.ts'
import type { McpServer } from '../../../../ports/tools.ts'
import {
  LIST_KINDS,
  EMPTY_SERVER_OFFER,
  type ListKind,
  type ServerOffer,
  type ServerTool,
} from '../../host/mcp-types.ts'
import { followChanges } from './change-notifications.ts'
import { reasonIn } from '../request/request.ts'
import type { ConnectAttempt, ClientSession } from '../connect/connect-attempt.ts'
import { isObject, type JsonObject } from '../../../checking/json.ts'
import { parsedEntries, readPrompt, readResourceEntry, readTemplate } from './entries.ts'
import { RAW_RESULT } from '../../transport/response-sanitizer.ts'

interface Life {
  /** Aborts when the connection ends. */
  readonly over: AbortSignal
  readonly lose: (reason: string) => void
}

export class TrackedOffer {
  readonly #session: ClientSession
  readonly #attempt: ConnectAttempt
  readonly #life: Life
  readonly #listing: Listing
  readonly #listedAt = new Map<ListKind, number>()
  /** Each lists its kind again, soon and not too often. */
  readonly #requestListing: ReadonlyMap<ListKind, () => void>
  /** Called when resources and prompts were listed for the first time, or could not be. */
  readonly #firstListed = new Map<ListKind, () => void>()
  #offer = EMPTY_SERVER_OFFER
  #latencyMs = 0
  /** The tools were listed for the first time. */
  #hasTools = false
  #toolsChangedEarly = false

  constructor(session: ClientSession, attempt: ConnectAttempt, life: Life) {
    const { clock, limits } = attempt.context
    this.#session = session
    this.#attempt = attempt
    this.#life = life
    this.#listing = { ...session, holds: new Map(), timeoutMs: limits.connectMs }
    const options = { clock, pauseMs: limits.listPauseMs, idlePauseMs: limits.idleListPauseMs, signal: life.over }
    this.#requestListing = new Map(LIST_KINDS.map((kind) => [kind, coalesce(() => this.#relist(kind), options)]))
  }

  /** What the server offers, as last listed. */
  get now(): ServerOffer {
    return this.#offer
  }

  /** The duration of the last listing. */
  get latencyMs(): number {
    return this.#latencyMs
  }

  /** Resolves when the first listing is complete. Slow resources and prompts do not delay the tools. */
  async begin(): Promise<void> {
    const { request, context } = this.#attempt
    const { clock, limits } = context
    const { over, lose: onGone } = this.#life
    const others = LIST_KINDS.filter((kind) => kind !== 'tools').map(
      (kind) => new Promise<void>((resolve) => this.#firstListed.set(kind, resolve)),
    )
    const onChanged = (kind: ListKind): void => this.#changed(kind)
    this.#session.listen({ onChanged, onGone })
    followChanges(this.#session.client, { clock, signal: over, onChanged, onGone })
    await this.#list('tools', request.signal)
    this.#hasTools = true
    for (const kind of LIST_KINDS) if (kind !== 'tools' || this.#toolsChangedEarly) this.#changed(kind)
    await waitAtMost(Promise.all(others), { clock, ms: limits.moreMs, signals: [over, request.signal] })
  }

  /** Lists again in the background what is old and whose changes the server does not report. */
  refreshIfStale(): void {
    const { request, context } = this.#attempt
    const { clock, limits } = context
    for (const kind of LIST_KINDS) {
      const age = clock.monotonicNow() - (this.#listedAt.get(kind) ?? 0)
      const isOld = age >= Math.max(limits.staleMs, this.#listing.holds.get(kind) ?? 0)
      if (isOld && !reportsChanges(kind, this.#session, request.server)) this.#requestListing.get(kind)?.()
    }
  }

  #changed(kind: ListKind): void {
    // Two concurrent listings of tools would mix their pages.
    if (this.#hasTools || kind !== 'tools') this.#requestListing.get(kind)?.()
    else this.#toolsChangedEarly = true
  }

  /** Answers whether the offer has changed. */
  async #list(kind: ListKind, signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#attempt.context
    const since = clock.monotonicNow()
    const before = this.#offer
    this.#listedAt.set(kind, since)
    const listed = await list(kind, this.#listing, signal)
    this.#latencyMs = Math.round(clock.monotonicNow() - since)
    this.#offer = { ...before, ...this.#offer, ...listed }
    return JSON.stringify(this.#offer) !== JSON.stringify(before)
  }

  async #relist(kind: ListKind): Promise<boolean> {
    const { over } = this.#life
    const { request, redact } = this.#attempt
    try {
      const changed = await this.#list(kind, over)
      if (changed && !over.aborted) request.onOffer()
      return changed
    } catch (error) {
      // The former list stays valid until the server is lost or reports another change.
      if (!over.aborted) this.#session.warn(`its ${kind} could not be listed again: ${redact(reasonIn(error))}`)
      return false
    } finally {
      this.#firstListed.get(kind)?.()
    }
  }
}

/** Whether the server reports changes. A legacy server over HTTP may announce it and have no stream to do so. */
function reportsChanges(kind: ListKind, { client }: ClientSession, server: McpServer): boolean {
  const announced = client.getServerCapabilities()?.[kind]?.listChanged === true
  return announced && (server.type === 'stdio' || client.getProtocolEra() === 'modern')
}

interface Listing {
  readonly client: Client
  /** The tools of the current or last listing, page by page. */
  readonly listed: ServerTool[]
  /** How long each list is valid, if its server says so. Milliseconds. */
  readonly holds: Map<ListKind, number>
  readonly timeoutMs: number
  readonly warn: (sentence: string) => void
}

/** A longer list is taken for endless. */
const MAX_PAGES = 64
/** Entries of each list of resources, templates and prompts, and the size of one entry. */
const MAX_ENTRIES = 5000
const MAX_ENTRY_CHARS = 64 * 1024

async function list(kind: ListKind, listing: Listing, signal: AbortSignal): Promise<Partial<ServerOffer>> {
  if (listing.client.getServerCapabilities()?.[kind] === undefined) return {}
  listing.holds.delete(kind)
  if (kind === 'tools') return { tools: await listTools(listing, signal) }
  const pages = paging(kind, listing, signal)
  if (kind === 'prompts') return { prompts: parsedEntries(await pages('prompts/list', 'prompts'), readPrompt) }
  return {
    resources: parsedEntries(await pages('resources/list', 'resources'), readResourceEntry),
    templates: parsedEntries(await pages('resources/templates/list', 'resourceTemplates'), readTemplate),
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
      warn('its list of tools is endless; the first pages are used')
      return undefined
    },
  )
  // The SDK may have dropped some tools. A name that occurs twice is one tool, because calls go by name.
  const byName = new Map<string, ServerTool>()
  for (const tool of listed) {
    if (names?.has(tool.serverToolName) === false) continue
    if (byName.has(tool.serverToolName))
      warn(`tool ${JSON.stringify(tool.serverToolName.slice(0, 100))} is listed twice; the first counts`)
    else byName.set(tool.serverToolName, tool)
  }
  return [...byName.values()]
}

/** Of several pages, the shortest validity counts. */
function hold(holds: Map<ListKind, number>, kind: ListKind, { ttlMs }: JsonObject): void {
  if (typeof ttlMs === 'number') holds.set(kind, Math.min(ttlMs, holds.get(kind) ?? ttlMs))
}

type PagedMethod = 'resources/list' | 'resources/templates/list' | 'prompts/list'

function paging(kind: ListKind, { client, holds, timeoutMs, warn }: Listing, signal: AbortSignal) {
  return async (method: PagedMethod, key: string): Promise<readonly unknown[]> => {
    const all: unknown[] = []
    let cursor: string | undefined
    for (let pages = 0; pages < MAX_PAGES; pages++) {
      const page = await onePage(
        client,
        { method, ...(cursor !== undefined && { params: { cursor } }) },
        { timeout: timeoutMs, signal },
      )
      hold(holds, kind, page)
      for (const entry of Array.isArray(page[key]) ? (page[key] as readonly unknown[]) : []) {
        if (all.length >= MAX_ENTRIES) break
        if (JSON.stringify(entry).length > MAX_ENTRY_CHARS) warn(`one of its ${key} is too long and was left out`)
        else all.push(entry)
      }
      if (all.length >= MAX_ENTRIES) {
        warn(`it has more ${key} than anyone reads; the first ${MAX_ENTRIES} are used`)
        return all
      }
      // An empty string is a valid cursor.
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
    // A server with resources need not have templates.
    if (error instanceof ProtocolError && error.code === METHOD_NOT_FOUND) return {}
    throw error
  }
}
