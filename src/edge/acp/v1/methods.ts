/** ACP v1's methods as commands to sessions: one row each. */
import { ParleyError, fail, isParleyError } from '../../../errors/parley-error.ts'
import type { Agents } from '../../../ports/agent.ts'
import type { Opening } from '../../../session/opening.ts'
import type { Session } from '../../../session/session.ts'
import type { Sessions } from '../../../session/sessions.ts'
import type { RequestId } from '../protocol.ts'
import type { AgentWish } from './agent.ts'
import type { Attachment, ClientSide, Start } from './attachment.ts'
import { Attachments } from './attachments.ts'
import { requireDirectories, requireDirectoriesOfStored } from './directories.ts'
import { type GoingOn, adoptedIn, startOf } from './going-on.ts'
import { list } from './list.ts'
import { type Parsed, asContent, parseParams } from './params.ts'
import { fork, rename, revoke } from './parley.ts'
import { settingsResult } from './project.ts'
import { setConfigOption, setMode } from './settings.ts'

export interface V1Host {
  readonly sessions: Sessions
  readonly client: ClientSide
  readonly agents: Agents
  readonly agent: AgentWish
  /** What ACP itself has not settled yet can be asked too. */
  readonly unstable: boolean
  newId(): string
  /** Throws what is answered to a request of this method that this client may not make now. */
  admit(method: string): void
}

/** Who asks, and until when they want to know. */
export interface Asker {
  readonly id: RequestId
  readonly signal: AbortSignal
}

/** A session that was opened for whoever attaches next. */
interface Opened {
  readonly session: Session
  readonly opening: Opening
  /** The cursor that the client goes on from, if it names one. */
  readonly after: number | undefined
}

/** What a request is answered with, and what follows the answer. */
export interface Answer {
  readonly result: unknown
  readonly afterwards?: () => Promise<void>
}

/** One connection's sessions and what it may ask of them. */
export class V1Methods {
  readonly #host: V1Host
  readonly #attachments: Attachments

  constructor(host: V1Host) {
    this.#host = host
    this.#attachments = new Attachments(host)
  }

  /** Undefined when there is no such request. */
  request(method: string, params: unknown, asker: Asker): Promise<Answer | 'answered later'> | undefined {
    switch (method) {
      case 'session/new':
        return this.#new(parseParams(method, params), asker)
      case 'session/load':
        return this.#load(parseParams(method, params), asker)
      case 'session/resume':
        return this.#resume(parseParams(method, params), asker)
      case 'session/list':
        return list(this.#host.sessions, parseParams(method, params))
      case 'session/prompt':
        return this.#prompt(parseParams(method, params), asker.id)
      case 'session/set_mode':
        return this.#setMode(parseParams(method, params))
      case 'session/set_config_option':
        return this.#setConfigOption(parseParams(method, params))
      case 'session/fork':
        return this.#host.unstable ? this.#fork(parseParams(method, params), asker) : undefined
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

  async #new(params: Parsed<'session/new'>, { signal }: Asker): Promise<Answer> {
    await requireDirectories(params)
    const { sessions, agents, agent } = this.#host
    const opening = { ...params, agent: await agents.settle(agent.name) }
    const session = await sessions.create(opening)
    if (signal.aborted) {
      await sessions.delete(session.id)
      return fail('REQUEST_CANCELLED', { method: 'session/new' })
    }
    return this.#begun(session, opening)
  }

  /** Nothing has been said in it yet that its client would not know: the response, how it stands, then what comes. */
  #begun(session: Session, opening: Opening): Answer {
    const attachment = this.#attach(session, { from: session.state.seq, opening })
    return {
      result: { sessionId: session.id, ...this.#opened(session) },
      afterwards: () => {
        attachment.tellState()
        return this.#attachments.goLive(attachment)
      },
    }
  }

  /** A copy of a session as it is now, opened. It belongs where its source does. */
  async #fork({ sessionId, ...params }: Parsed<'session/fork'>, { signal }: Asker): Promise<Answer> {
    await requireDirectories(params)
    const { sessions } = this.#host
    const cwd = (await sessions.find(sessionId))?.cwd ?? fail('SESSION_NOT_FOUND', { session: sessionId })
    if (cwd !== params.cwd) fail('SESSION_CWD_DIFFERS', { session: sessionId, cwd, given: params.cwd })
    const forked = await sessions.fork(sessionId)
    if (signal.aborted) {
      await sessions.delete(forked)
      return fail('REQUEST_CANCELLED', { method: 'session/fork' })
    }
    return this.#begun(await sessions.open(forked, params), params)
  }

  /** What every answer to whoever opens a session says of it; `seq` is the last entry, or the last that a load has told. */
  #opened({ existing: { settings, seq: last } }: Session, seq = last) {
    return { ...settingsResult(settings, this.#host.client.dialect), _meta: { 'parley/seq': seq } }
  }

  /** What the client has not had yet, then the response, then what comes. */
  async #load(params: Parsed<'session/load'>, { signal }: Asker): Promise<Answer> {
    const { session, opening, after } = await this.#open('session/load', params, signal)
    await this.#disown(session, params)
    const attachment = this.#attach(session, { from: after ?? 0, opening })
    attachment.adopt(adoptedIn(params))
    await this.#replay(attachment, signal)
    // What was stored meanwhile comes after the response: whoever loses the connection before that must ask for it again.
    return {
      result: this.#opened(session, attachment.start.from),
      afterwards: () => this.#attachments.goLive(attachment),
    }
  }

  /** What is still on its way over the lost connection comes too late from here on. */
  async #disown(session: Session, params: GoingOn): Promise<void> {
    const promptIds = adoptedIn(params).map(({ promptId }) => promptId)
    if (promptIds.length === 0) return
    // A disk that is full must keep nobody from reading on; such a prompt is not stored either.
    await session.dispatch({ kind: 'disown', promptIds }).catch((error: unknown) => this.#host.client.report(error))
  }

  /** A load that fails or is cancelled leaves nothing open behind. One that would answer prompts too is not cancelled. */
  async #replay(attachment: Attachment, signal: AbortSignal): Promise<void> {
    const stop = (): void => attachment.detach()
    if (attachment.openPrompts().length === 0) signal.addEventListener('abort', stop, { once: true })
    try {
      await attachment.replay()
      signal.removeEventListener('abort', stop)
      if (signal.aborted && attachment.isLeft) fail('REQUEST_CANCELLED', { method: 'session/load' })
    } catch (error) {
      this.#attachments.abandon(
        attachment.session.id,
        isParleyError(error) ? error : new ParleyError('INTERNAL_ERROR', {}, error),
      )
      throw error
    }
  }

  /** The response, then what comes; with a cursor, first what the client has missed since. */
  async #resume(params: Parsed<'session/resume'>, { signal }: Asker): Promise<Answer> {
    const { session, opening, after } = await this.#open('session/resume', params, signal)
    await this.#disown(session, params)
    const present = this.#attachments.get(session.id)
    if (present?.session === session && after === undefined) return this.#resumeHere(present, opening, params)
    const attachment = this.#attach(session, { from: after ?? session.state.seq, opening })
    attachment.adopt(adoptedIn(params))
    if (after === undefined) attachment.tellState()
    return { result: this.#opened(session), afterwards: () => this.#attachments.goLive(attachment) }
  }

  /** Whoever has it open already misses nothing of what is still on its way. */
  #resumeHere(present: Attachment, opening: Opening, params: GoingOn): Answer {
    present.declare(opening)
    present.adopt(adoptedIn(params))
    present.tellState()
    return { result: this.#opened(present.session), afterwards: async () => present.tellNews() }
  }

  async #open(method: string, params: Parsed<'session/load' | 'session/resume'>, signal: AbortSignal): Promise<Opened> {
    const cwdIsThere = await requireDirectoriesOfStored(params)
    const { sessions, agents, agent } = this.#host
    const opening = agent.chosen ? { ...params, agent: await agents.settle(agent.name) } : params
    const session = await sessions.open(params.sessionId, opening)
    try {
      if (signal.aborted) fail('REQUEST_CANCELLED', { method })
      if (!cwdIsThere) await session.dispatch({ kind: 'notice', text: cwdIsGone(params.cwd) })
      return { session, opening, after: startOf(params, session) }
    } catch (error) {
      session.forgo(opening)
      throw error
    }
  }

  async #prompt(params: Parsed<'session/prompt'>, id: RequestId): Promise<'answered later'> {
    const { sessionId } = params
    const attachment = this.#attachments.get(sessionId) ?? (await this.#notAttached(sessionId))
    const content = asContent(params.prompt)
    this.#requireAccepted(content, attachment.session)
    const promptId = promptIdOf(params) ?? this.#host.newId()
    if (attachment.session.isGone) await this.#gone(sessionId)
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
    return session.isGone ? this.#gone(sessionId) : session
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

  #requireAccepted(content: ReturnType<typeof asContent>, { existing }: Session): void {
    const { image, audio, embeddedContext } = this.#host.agents.accepts(existing.agent)
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

  #attach(session: Session, start: Start): Attachment {
    // It may have logged out meanwhile.
    this.#host.admit('session/load')
    return this.#attachments.attach(session, start)
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

/** The client's own name for the prompt, by which one sent again is recognised. */
function promptIdOf({ _meta }: WithMeta): string | undefined {
  const id = _meta?.['parley/promptId']
  return typeof id === 'string' && id !== '' ? id : undefined
}

function cwdIsGone(cwd: string): string {
  return `The directory ${cwd} of this session is gone. The conversation is whole, but tools that work in it will fail.`
}
