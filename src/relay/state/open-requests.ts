/** Requests that have no response yet, in both directions, and the terminals that the server has at the client. */
import {
  type Request,
  type RequestId,
  type Response,
  fieldsOf,
  isFields,
  notificationMessage,
  requestMessage,
  type Fields,
} from '../../rpc/json-rpc.ts'

/** Ids of the relay's own requests begin so; a client of ACP has no reason to use such ids. */
export const RELAY_ID_PREFIX = 'parley-relay-'

/** Past these bytes of prompts that wait for their session, nothing more is read from the client. */
const HELD_MOST = 1024 * 1024

/** A turn may run for long, and a prompt is never sent a second time. */
export interface OpenPrompt {
  readonly kind: 'prompt'
  readonly id: RequestId
  readonly sessionId: string
  readonly promptId: string
  /** The client has cancelled it. */
  isCancelled: boolean
  /** It was sent to a server that is gone. */
  isOrphan: boolean
  /** The message, until its session is resumed and it can be sent; undefined after that. */
  held?: Buffer | undefined
}

/** Any other request, as it was sent. */
export interface OpenCall {
  readonly kind: 'call'
  readonly id: RequestId
  readonly method: string
  readonly params: Fields
  readonly line: Buffer
  /** Prompts of a former connection that it takes over. */
  readonly adopts: readonly OpenPrompt[]
}

export type OpenRequest = OpenPrompt | OpenCall

/** Sent twice, these have their effect once, or leave an empty session behind. */
const REPEATABLE: ReadonlySet<string> = new Set([
  'initialize',
  'authenticate',
  'session/new',
  'session/load',
  'session/resume',
  'session/list',
  'session/close',
  'session/delete',
  'session/set_mode',
  'session/set_config_option',
  '_parley/status',
  '_parley/ping',
  '_parley/page',
  '_parley/outline',
  '_parley/export',
  '_parley/search',
  '_parley/files',
  '_parley/directories',
  '_parley/seen',
  '_parley/rename',
  '_parley/answer',
  '_parley/withdraw',
  '_parley/promote',
  '_parley/revoke',
])

/** Requests of the client. */
export class ClientRequests {
  readonly #open = new Set<OpenRequest>()

  add(request: OpenRequest): void {
    this.#open.add(request)
  }

  /** The request that this id answers. When a client has used an id twice, the oldest request is answered first. */
  take(id: RequestId): OpenRequest | undefined {
    const request = [...this.#open].find((open) => open.id === id)
    if (request !== undefined) this.#open.delete(request)
    return request
  }

  takeCalls(fits: (call: OpenCall) => boolean = () => true): readonly OpenCall[] {
    return this.calls().filter((call) => fits(call) && this.#open.delete(call))
  }

  /** Calls that must not be sent to another server, because they may have had their effect. */
  takeUnrepeatable(): readonly OpenCall[] {
    return this.takeCalls(({ method }) => !REPEATABLE.has(method))
  }

  takePrompts(fits: (prompt: OpenPrompt) => boolean): readonly OpenPrompt[] {
    return this.#prompts().filter((prompt) => fits(prompt) && this.#open.delete(prompt))
  }

  /** The server that the prompts were sent to is gone. */
  orphan(): void {
    for (const prompt of this.#prompts()) prompt.isOrphan = prompt.held === undefined
  }

  get holdsMuch(): boolean {
    return this.#prompts().reduce((sum, { held }) => sum + (held?.length ?? 0), 0) > HELD_MOST
  }

  /** The lines of prompts that were not sent yet: they count as sent from now on. */
  takeHeld(fits: (sessionId: string) => boolean): Buffer {
    const fitting = this.#prompts().filter(({ sessionId }) => fits(sessionId))
    return Buffer.concat(
      fitting.flatMap((prompt) => {
        const { held } = prompt
        prompt.held = undefined
        return held === undefined ? [] : [held]
      }),
    )
  }

  calls(): readonly OpenCall[] {
    return [...this.#open].filter((request) => request.kind === 'call')
  }

  /** Those that were sent. */
  promptsOf(sessionId: string): readonly OpenPrompt[] {
    return this.#prompts().filter((prompt) => prompt.sessionId === sessionId && prompt.held === undefined)
  }

  /** Remembers `session/cancel` and `$/cancel_request`, in case they are lost with the server. */
  noteCancel(method: string, { sessionId, requestId }: Fields): void {
    for (const prompt of this.#prompts()) {
      const isMeant = method === 'session/cancel' ? prompt.sessionId === sessionId : prompt.id === requestId
      if (isMeant) prompt.isCancelled = true
    }
  }

  #prompts(): readonly OpenPrompt[] {
    return [...this.#open].filter((request) => request.kind === 'prompt')
  }
}

interface NamedPrompt {
  readonly sessionId: string
  readonly promptId: string
  readonly params: Fields
}

/**
 * A prompt with the id under which it runs once: the client's own where it gives one. Undefined for a prompt whose parameters
 * are invalid; the server refuses it.
 */
export function withPromptId({ id, params }: Request, newId: () => string): NamedPrompt | undefined {
  const fields = fieldsOf(params)
  const { sessionId, _meta: meta = null } = fields
  if (id === null || typeof sessionId !== 'string' || (meta !== null && !isFields(meta))) return undefined
  const promptId = meta?.['parley/promptId'] ?? newId()
  if (typeof promptId !== 'string' || promptId === '') return undefined
  return { sessionId, promptId, params: { ...fields, _meta: { ...meta, 'parley/promptId': promptId } } }
}

/** Prompts of a former connection that a load or resume takes over: their ends answer requests of this one. Invalid ones are the server's to refuse. */
export function adoptedPrompts({ sessionId, _meta }: Fields): readonly OpenPrompt[] {
  const adopted = fieldsOf(_meta)['parley/prompts']
  if (typeof sessionId !== 'string' || !Array.isArray(adopted)) return []
  return adopted.map(fieldsOf).flatMap(({ requestId: id, promptId }) => {
    if ((typeof id !== 'string' && typeof id !== 'number') || typeof promptId !== 'string') return []
    return [{ kind: 'prompt', id, sessionId, promptId, isCancelled: false, isOrphan: false }]
  })
}

/** A request for a terminal. Only its session's client can release the terminal, so its session is kept. */
interface TerminalRequest {
  readonly sessionId: unknown
  /** The server that asked for the terminal is gone. */
  isOrphan: boolean
}

/** How the relay handles a response of the client. */
interface ClientResponse {
  /** Whether the server still waits for it. */
  readonly isAwaited: boolean
  /** Messages for the client because of it. */
  readonly toClient: readonly string[]
}

/** Requests of the server to the client, and the terminals that it has there: both end with the server. */
export class ServerRequests {
  readonly #open = new Set<RequestId>()
  /** Requests for terminals until they are answered, withdrawn ones included. */
  readonly #terminalRequests = new Map<RequestId, TerminalRequest>()
  /** Sessions by the id of their terminal. */
  readonly #terminals = new Map<string, unknown>()
  #releases = 0

  add({ id, method, params }: Request): void {
    this.#open.add(id)
    const { sessionId, terminalId } = fieldsOf(params)
    if (method === 'terminal/create') this.#terminalRequests.set(id, { sessionId, isOrphan: false })
    if (method === 'terminal/release') this.#terminals.delete(String(terminalId))
  }

  /** The server no longer waits. When the client makes a terminal all the same, the server still releases it. */
  withdraw(id: unknown): void {
    if (!this.#terminalRequests.has(id as RequestId)) this.#open.delete(id as RequestId)
  }

  /** The client has answered: perhaps too late, for a server that is gone or a request that was withdrawn. */
  answered({ id, result }: Response): ClientResponse {
    const request = this.#terminalRequests.get(id)
    this.#terminalRequests.delete(id)
    const isAwaited = this.#open.delete(id)
    const { terminalId } = fieldsOf(result)
    if (request === undefined || typeof terminalId !== 'string') return { isAwaited, toClient: [] }
    if (request.isOrphan) return { isAwaited, toClient: [this.#release(terminalId, request.sessionId)] }
    this.#terminals.set(terminalId, request.sessionId)
    return { isAwaited, toClient: [] }
  }

  /** The server is gone: withdraws its requests and releases its terminals. Returns the messages for the client. */
  lose(): readonly string[] {
    const withdrawn = [...this.#open].map((requestId) => notificationMessage('$/cancel_request', { requestId }))
    const released = [...this.#terminals].map(([terminalId, sessionId]) => this.#release(terminalId, sessionId))
    this.#open.clear()
    this.#terminals.clear()
    for (const request of this.#terminalRequests.values()) request.isOrphan = true
    return [...withdrawn, ...released]
  }

  #release(terminalId: string, sessionId: unknown): string {
    this.#releases += 1
    return requestMessage(discardedId(`release-${this.#releases}`), 'terminal/release', { sessionId, terminalId })
  }
}

/** An id for a request whose response is discarded. */
export function discardedId(which: number | string): RequestId {
  return `${RELAY_ID_PREFIX}unheard-${which}`
}
