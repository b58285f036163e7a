/** An ACP client on any pipe: initialize, then sessions, prompts and their questions. Runs in a browser too. */
import { ParleyError, fail } from '../errors/parley-error.ts'
import { type Capabilities, agentNameOf, capabilitiesOf, fieldsOf } from './capabilities.ts'
import { Peer, requireOffered } from './peer.ts'
import type { Pipe } from './pipe.ts'
import { type PermissionQuestion, Questions } from './questions.ts'
import type { UpdateParams } from './updates.ts'

/** The newest version of ACP that we speak, and the only one. */
const PROTOCOL_VERSION = 1

/** Who a client is to the people behind it. */
export interface Face {
  updated(params: UpdateParams): void
  /**
   * The id of the chosen option, or null for none. `withdrawn` aborts when the answer is no longer wanted: somebody else
   * gave one, or the turn was cancelled.
   */
  ask(question: PermissionQuestion, withdrawn: AbortSignal): Promise<string | null>
}

export interface ClientInfo {
  readonly name: string
  readonly title: string
  readonly version: string
}

export interface SessionInfo {
  readonly sessionId: string
  readonly cwd: string
  readonly title?: string | null
  readonly updatedAt?: string | null
}

/** How a prompt ended, as the agent said it. */
export interface PromptResult {
  readonly stopReason: string
}

/** Throws PROTOCOL_UNSUPPORTED, with the pipe closed, when the agent speaks no version that we do. */
export async function connect(pipe: Pipe, face: Face, clientInfo: ClientInfo): Promise<Client> {
  const client = new Client(pipe, face)
  try {
    await client.initialize(clientInfo)
    return client
  } catch (error) {
    client.close()
    throw error
  }
}

export class Client {
  readonly #peer: Peer
  readonly #questions: Questions
  #name = ''
  #can: Capabilities = capabilitiesOf({})

  constructor(pipe: Pipe, face: Face) {
    this.#questions = new Questions(
      (question, withdrawn) => face.ask(question, withdrawn),
      (id, outcome) => this.#peer.answer(id, { outcome }),
    )
    this.#peer = new Peer(pipe, {
      notified: (method, params) => {
        if (method === 'session/update' && isUpdate(params)) face.updated(params)
        if (method === '$/cancel_request') this.#questions.withdraw(fieldsOf(params)['requestId'])
      },
      requested: (id, method, params) => {
        if (method !== 'session/request_permission') return false
        this.#questions.put(id, params)
        return true
      },
    })
  }

  /** What people call the agent. */
  get name(): string {
    return this.#name
  }

  get can(): Capabilities {
    return this.#can
  }

  /** Resolves when the connection has ended. */
  get closed(): Promise<void> {
    return this.#peer.closed
  }

  async initialize(clientInfo: ClientInfo): Promise<void> {
    const params = { protocolVersion: PROTOCOL_VERSION, clientCapabilities: {}, clientInfo }
    const result = fieldsOf(await this.#peer.request('initialize', params))
    const found = result['protocolVersion']
    if (found !== PROTOCOL_VERSION) fail('PROTOCOL_UNSUPPORTED', { found: String(found), known: PROTOCOL_VERSION })
    this.#name = agentNameOf(result)
    this.#can = capabilitiesOf(result)
  }

  async newSession(cwd: string): Promise<string> {
    const { sessionId } = fieldsOf(await this.#peer.request('session/new', { cwd, mcpServers: [] }))
    if (typeof sessionId === 'string') return sessionId
    throw new ParleyError('PEER_REFUSED', { method: 'session/new', code: 'unknown', reason: 'It named no session.' })
  }

  /** The whole conversation comes as updates before this resolves. */
  async loadSession({ sessionId, cwd }: SessionInfo): Promise<void> {
    requireOffered('session/load', this.#can.load)
    await this.#peer.request('session/load', { sessionId, cwd, mcpServers: [] })
  }

  /** Goes on without being told what was said. */
  async resumeSession({ sessionId, cwd }: SessionInfo): Promise<void> {
    requireOffered('session/resume', this.#can.resume)
    await this.#peer.request('session/resume', { sessionId, cwd, mcpServers: [] })
  }

  /** Newest first, page by page as they are wanted. */
  async *sessions(cwd?: string): AsyncGenerator<SessionInfo> {
    requireOffered('session/list', this.#can.list)
    let cursor: unknown
    do {
      const page = fieldsOf(
        await this.#peer.request('session/list', { ...(cwd && { cwd }), ...(cursor ? { cursor } : {}) }),
      )
      yield* (page['sessions'] ?? []) as readonly SessionInfo[]
      cursor = page['nextCursor']
    } while (cursor)
  }

  /** Resolves when the turn has ended, after everything that it said. */
  async prompt(sessionId: string, text: string): Promise<PromptResult> {
    const result = await this.#peer.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] })
    return { stopReason: 'unknown', ...fieldsOf(result) }
  }

  /** Asks the turn to end, and answers every question of the session as cancelled. The prompt tells when it has. */
  cancel(sessionId: string): void {
    this.#peer.notify('session/cancel', { sessionId })
    this.#questions.cancel(sessionId)
  }

  close(): void {
    this.#peer.close()
  }
}

function isUpdate(params: unknown): params is UpdateParams {
  return typeof fieldsOf(fieldsOf(params)['update'])['sessionUpdate'] === 'string'
}
