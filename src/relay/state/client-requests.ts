/** What the client has asked and not been answered yet. */
import { type Fields, type Request, type RequestId, fieldsOf, isFields } from '../messages.ts'

/** Its end may be a long time away; it is never sent a second time. */
export interface OpenPrompt {
  readonly kind: 'prompt'
  readonly id: RequestId
  readonly sessionId: string
  readonly promptId: string
  /** The client wants it to end. */
  wantsEnd: boolean
  /** It was sent to a server that is gone. */
  isOrphan: boolean
}

/** Anything else, as it was sent. */
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

/** Asked twice, these do what they do once, or leave an empty session behind. */
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
  '_parley/rename',
])

export class ClientRequests {
  readonly #open = new Set<OpenRequest>()

  add(request: OpenRequest): void {
    this.#open.add(request)
  }

  /** It is answered. Of several that a client has given the same id, each has its answer: the oldest the first. */
  take(id: RequestId): OpenRequest | undefined {
    const request = [...this.#open].find((open) => open.id === id)
    if (request !== undefined) this.#open.delete(request)
    return request
  }

  takeCalls(fits: (call: OpenCall) => boolean = () => true): readonly OpenCall[] {
    return this.calls().filter((call) => fits(call) && this.#open.delete(call))
  }

  /** Those that a new server cannot be asked again, because they may have been done. */
  takeUnrepeatable(): readonly OpenCall[] {
    return this.takeCalls(({ method }) => !REPEATABLE.has(method))
  }

  takePrompts(fits: (prompt: OpenPrompt) => boolean): readonly OpenPrompt[] {
    return this.#prompts().filter((prompt) => fits(prompt) && this.#open.delete(prompt))
  }

  /** The server that they were sent to is gone. */
  orphan(): void {
    for (const prompt of this.#prompts()) prompt.isOrphan = true
  }

  calls(): readonly OpenCall[] {
    return [...this.#open].filter((request) => request.kind === 'call')
  }

  promptsOf(sessionId: string): readonly OpenPrompt[] {
    return this.#prompts().filter((prompt) => prompt.sessionId === sessionId)
  }

  /** `session/cancel` and `$/cancel_request`, should they be lost on the way. */
  noteCancel(method: string, { sessionId, requestId }: Fields): void {
    for (const prompt of this.#prompts()) {
      const isMeant = method === 'session/cancel' ? prompt.sessionId === sessionId : prompt.id === requestId
      if (isMeant) prompt.wantsEnd = true
    }
  }

  #prompts(): readonly OpenPrompt[] {
    return [...this.#open].filter((request) => request.kind === 'prompt')
  }
}

/**
 * A prompt under the name by which it runs once; the client's own where it gives one. Undefined where there is no place for
 * it, or what stands there is no name: the server says so.
 */
export function named({ id, params }: Request, newId: () => string): NamedPrompt | undefined {
  const { sessionId, _meta: meta = null } = params
  if (id === null || typeof sessionId !== 'string' || (meta !== null && !isFields(meta))) return undefined
  const promptId = meta?.['parley/promptId'] ?? newId()
  if (typeof promptId !== 'string' || promptId === '') return undefined
  return { sessionId, promptId, params: { ...params, _meta: { ...meta, 'parley/promptId': promptId } } }
}

/** Prompts of a former connection whose ends are to answer requests of this one. What is not well formed is left to the server. */
export function adoptedBy({ sessionId, _meta }: Fields): readonly OpenPrompt[] {
  const adopted = fieldsOf(_meta)['parley/prompts']
  if (typeof sessionId !== 'string' || !Array.isArray(adopted)) return []
  return adopted.map(fieldsOf).flatMap(({ requestId: id, promptId }) => {
    if ((typeof id !== 'string' && typeof id !== 'number') || typeof promptId !== 'string') return []
    return [{ kind: 'prompt', id, sessionId, promptId, wantsEnd: false, isOrphan: false }]
  })
}

interface NamedPrompt {
  readonly sessionId: string
  readonly promptId: string
  readonly params: Fields
}
