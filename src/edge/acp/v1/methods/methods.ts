/** ACP v1's methods as commands to sessions: one row each. */
import { ParleyError, fail } from '../../../../errors/parley-error.ts'
import type { Session } from '../../../../session/session.ts'
import type { RequestId } from '../../../../rpc/json-rpc.ts'
import type { Answer, Asker, VersionMethods } from '../../version.ts'
import { Attachments } from '../attachment/attachments.ts'
import { list } from './list-sessions.ts'
import { OpenMethods, type OpenMethodsHost } from './open-methods.ts'
import { type Parsed, asContent, parseParams } from './params.ts'
import { fork, rename, revoke } from './extension-methods.ts'
import { setConfigOption, setMode } from './settings.ts'

export interface V1Host extends OpenMethodsHost {
  /** What ACP itself has not settled yet can be asked too. */
  readonly unstable: boolean
  newId(): string
}

/** One connection's sessions and what it may ask of them. */
export class V1Methods implements VersionMethods {
  readonly #host: V1Host
  readonly #attachments: Attachments
  readonly #openings: OpenMethods

  constructor(host: V1Host) {
    this.#host = host
    this.#attachments = new Attachments(host)
    this.#openings = new OpenMethods(host, this.#attachments)
  }

  /** Undefined when there is no such request. */
  request(method: string, params: unknown, { id, signal }: Asker): Promise<Answer | 'answered later'> | undefined {
    switch (method) {
      case 'session/new':
        return this.#openings.new(parseParams(method, params), signal)
      case 'session/load':
        return this.#openings.load(parseParams(method, params), signal)
      case 'session/resume':
        return this.#openings.resume(parseParams(method, params), signal)
      case 'session/list':
        return list(this.#host.sessions, parseParams(method, params))
      case 'session/prompt':
        return this.#prompt(parseParams(method, params), id)
      case 'session/set_mode':
        return this.#setMode(parseParams(method, params))
      case 'session/set_config_option':
        return this.#setConfigOption(parseParams(method, params))
      case 'session/fork':
        return this.#host.unstable ? this.#openings.fork(parseParams(method, params), signal) : undefined
      case 'session/close':
        return this.#close(parseParams(method, params))
      case 'session/delete':
        return this.#delete(parseParams(method, params))
      case '_parley/rename':
        return rename(this.#host.sessions, parseParams(method, params))
      case '_parley/revoke':
        return revoke(this.#host.sessions, parseParams(method, params))
      case '_parley/fork':
        return fork(this.#host.sessions, parseParams(method, params))
      default:
        return undefined
    }
  }

  /** A cancel of nothing is no error, and a notification has no answer. */
  async cancel(params: unknown): Promise<void> {
    const attachment = this.#attachments.get(parseParams('session/cancel', params).sessionId)
    await attachment?.session.dispatch({ kind: 'cancel', queued: attachment.openPrompts() })
  }

  /** `$/cancel_request` of a prompt. */
  async cancelRequest(requestId: RequestId): Promise<void> {
    for (const attachment of this.#attachments.all()) {
      const promptId = attachment.promptOf(requestId)
      if (promptId !== undefined) await attachment.session.dispatch({ kind: 'withdraw', promptId })
    }
  }

  /** The client may hear no more: each of its prompts is answered so, and goes on without it. */
  logOut(): void {
    this.#attachments.abandonAll(new ParleyError('AUTH_REQUIRED', { method: 'session/prompt' }))
  }

  /** The client is gone: its sessions go on without it. */
  detach(): void {
    this.#host.client.lending.leave()
    this.#attachments.detach()
  }

  async #prompt(params: Parsed<'session/prompt'>, id: RequestId): Promise<'answered later'> {
    const { sessionId } = params
    const attachment = this.#attachments.get(sessionId) ?? (await this.#notAttached(sessionId))
    const content = asContent(params.prompt)
    this.#requireAccepted(content, attachment.session)
    // The client's own name for the prompt, by which one sent again is recognised.
    const promptId = params._meta?.['parley/promptId'] ?? this.#host.newId()
    if (attachment.session.isDisposed) await this.#gone(sessionId)
    await attachment.prompt({ promptId, content, meta: attachedTo(params) }, id)
    return 'answered later'
  }

  async #setMode(params: Parsed<'session/set_mode'>): Promise<Answer> {
    return setMode(await this.#attached(params.sessionId), params)
  }

  async #setConfigOption(params: Parsed<'session/set_config_option'>): Promise<Answer> {
    return setConfigOption(await this.#attached(params.sessionId), params, this.#host.client.dialect)
  }

  async #attached(sessionId: string): Promise<Session> {
    const { session } = this.#attachments.get(sessionId) ?? (await this.#notAttached(sessionId))
    return session.isDisposed ? this.#gone(sessionId) : session
  }

  async #notAttached(session: string): Promise<never> {
    const known = await this.#host.sessions.find(session)
    return known === undefined || known.phase === 'closed'
      ? this.#gone(session)
      : fail('SESSION_NOT_ATTACHED', { session })
  }

  /** Somebody has closed or deleted it. */
  async #gone(session: string): Promise<never> {
    const known = await this.#host.sessions.find(session)
    return fail(known === undefined ? 'SESSION_NOT_FOUND' : 'SESSION_CLOSED', { session })
  }

  #requireAccepted(content: ReturnType<typeof asContent>, { requireCreated: existing, agents }: Session): void {
    const { image, audio, embeddedContext } = agents.accepts(existing.agent)
    const accepted = { text: true, resource_link: true, image, audio, resource: embeddedContext }
    const refused = content.find(({ type }) => !accepted[type])
    if (refused === undefined) return
    fail('PARAMS_INVALID', { method: 'session/prompt', reason: `this agent does not take ${refused.type} content` })
  }

  async #close({ sessionId }: Parsed<'session/close'>): Promise<Answer> {
    await this.#host.sessions.close(sessionId)
    this.#attachments.abandon(sessionId, new ParleyError('SESSION_CLOSED', { session: sessionId }))
    return { result: {} }
  }

  async #delete({ sessionId }: Parsed<'session/delete'>): Promise<Answer> {
    await this.#host.sessions.delete(sessionId)
    this.#attachments.abandon(sessionId, new ParleyError('SESSION_CLOSED', { session: sessionId }))
    return { result: {} }
  }
}

interface WithMeta {
  readonly _meta?: Readonly<Record<string, unknown>> | null | undefined
}

/** What belongs to the prompt and not to its way here: our own keys say how it is to be taken, and no more. */
function attachedTo({ _meta }: WithMeta): Readonly<Record<string, unknown>> | undefined {
  const theirs = Object.entries(_meta ?? {}).filter(([key]) => !key.startsWith('parley/'))
  return theirs.length === 0 ? undefined : Object.fromEntries(theirs)
}
