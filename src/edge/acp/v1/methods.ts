/** ACP v1's methods as commands to sessions: one row each. */
import { ParleyError, fail, isParleyError } from '../../../errors/parley-error.ts'
import type { Agents } from '../../../ports/agent.ts'
import type { Opening } from '../../../session/opening.ts'
import type { Session } from '../../../session/session.ts'
import type { Sessions } from '../../../session/sessions.ts'
import type { RequestId } from '../protocol.ts'
import type { AgentWish } from './agent.ts'
import { Attachment, type ClientSide, type Start } from './attachment.ts'
import { decodeCursor, encodeCursor } from './cursor.ts'
import { requireAbsolutePath, requireDirectories, requireDirectoriesOfStored } from './directories.ts'
import type { AdoptedPrompt } from './open-prompts.ts'
import { type Parsed, asContent, parseParams } from './params.ts'
import { fork, rename } from './parley.ts'
import { sessionInfo } from './session-info.ts'

const LIST_PAGE = 50

export interface V1Host {
  readonly sessions: Sessions
  readonly client: ClientSide
  readonly agents: Agents
  readonly agent: AgentWish
  newId(): string
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
  readonly #attachments = new Map<string, Attachment>()

  constructor(host: V1Host) {
    this.#host = host
  }

  /** Undefined when there is no such request. */
  request(method: string, params: unknown, id: RequestId): Promise<Answer | 'answered later'> | undefined {
    switch (method) {
      case 'session/new':
        return this.#new(parseParams(method, params))
      case 'session/load':
        return this.#load(parseParams(method, params))
      case 'session/resume':
        return this.#resume(parseParams(method, params))
      case 'session/list':
        return this.#list(parseParams(method, params))
      case 'session/prompt':
        return this.#prompt(parseParams(method, params), id)
      case 'session/close':
        return this.#close(parseParams(method, params))
      case 'session/delete':
        return this.#delete(parseParams(method, params))
      case '_parley/rename':
        return rename(this.#host.sessions, parseParams(method, params))
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

  /** `$/cancel_request` of a prompt; other requests are answered sooner than they could be cancelled. */
  async cancelRequest(requestId: RequestId): Promise<void> {
    for (const attachment of this.#attachments.values()) {
      const promptId = attachment.promptOf(requestId)
      if (promptId !== undefined) await attachment.session.dispatch({ kind: 'withdraw', promptId })
    }
  }

  /** The client is gone: its sessions go on without it. */
  detach(): void {
    for (const attachment of this.#attachments.values()) attachment.detach()
    this.#attachments.clear()
  }

  async #new(params: Parsed<'session/new'>): Promise<Answer> {
    await requireDirectories(params)
    const opening = { ...params, agent: this.#host.agent.name }
    const session = await this.#host.sessions.create(opening)
    const attachment = this.#attach(session, { from: 0, opening })
    return { result: { sessionId: session.id }, afterwards: () => attachment.goLive() }
  }

  /** What the client has not had yet, then the response, then what comes. */
  async #load(params: Parsed<'session/load'>): Promise<Answer> {
    const { session, opening, after } = await this.#open(params)
    await this.#disown(session, params)
    const attachment = this.#attach(session, { from: after ?? 0, opening })
    attachment.adopt(adoptedIn(params))
    await this.#replay(attachment)
    return { result: goneOn(session), afterwards: () => attachment.goLive() }
  }

  /** What is still on its way over the lost connection comes too late from here on. */
  async #disown(session: Session, params: GoingOn): Promise<void> {
    const promptIds = adoptedIn(params).map(({ promptId }) => promptId)
    if (promptIds.length === 0) return
    // A disk that is full must keep nobody from reading on; such a prompt is not stored either.
    await session.dispatch({ kind: 'disown', promptIds }).catch((error: unknown) => this.#host.client.report(error))
  }

  /** A load that fails leaves nothing open behind. */
  async #replay(attachment: Attachment): Promise<void> {
    try {
      await attachment.replay()
    } catch (error) {
      this.#abandon(attachment.session.id, isParleyError(error) ? error : new ParleyError('INTERNAL_ERROR', {}, error))
      throw error
    }
  }

  /** The response, then what comes; with a cursor, first what the client has missed since. */
  async #resume(params: Parsed<'session/resume'>): Promise<Answer> {
    const { session, opening, after } = await this.#open(params)
    await this.#disown(session, params)
    const present = this.#attachments.get(session.id)
    if (present?.session === session && after === undefined) return this.#resumeHere(present, opening, params)
    const attachment = this.#attach(session, { from: after ?? session.state.seq, opening })
    attachment.adopt(adoptedIn(params))
    if (after === undefined) attachment.tellState()
    return { result: goneOn(session), afterwards: () => attachment.goLive() }
  }

  /** Whoever has it open already misses nothing of what is still on its way. */
  #resumeHere(present: Attachment, opening: Opening, params: GoingOn): Answer {
    present.declare(opening)
    present.adopt(adoptedIn(params))
    present.tellState()
    return { result: goneOn(present.session), afterwards: async () => present.tellNews() }
  }

  async #open(params: Parsed<'session/load' | 'session/resume'>): Promise<Opened> {
    const cwdIsThere = await requireDirectoriesOfStored(params)
    const { sessions, agent } = this.#host
    const opening = agent.chosen ? { ...params, agent: agent.name } : params
    const session = await sessions.open(params.sessionId, opening)
    try {
      if (!cwdIsThere) await session.dispatch({ kind: 'notice', text: cwdIsGone(params.cwd) })
      return { session, opening, after: startOf(params, session) }
    } catch (error) {
      session.forgo(opening)
      throw error
    }
  }

  async #list({ cwd, cursor }: Parsed<'session/list'>): Promise<Answer> {
    if (cwd !== undefined && cwd !== null) requireAbsolutePath('cwd', cwd)
    const rows = await this.#host.sessions.list({
      // One more says whether there is another page.
      limit: LIST_PAGE + 1,
      ...(cwd === undefined || cwd === null ? {} : { cwd }),
      ...(cursor === undefined || cursor === null ? {} : { after: decodeCursor(cursor) }),
    })
    const page = rows.slice(0, LIST_PAGE)
    const last = rows.length > LIST_PAGE ? page.at(-1) : undefined
    return { result: { sessions: page.map(sessionInfo), ...(last && { nextCursor: encodeCursor(last) }) } }
  }

  async #prompt(params: Parsed<'session/prompt'>, id: RequestId): Promise<'answered later'> {
    const { sessionId } = params
    const attachment = this.#attachments.get(sessionId) ?? (await this.#notAttached(sessionId))
    const content = asContent(params.prompt)
    this.#requireAccepted(content, attachment.session)
    const promptId = promptIdOf(params) ?? this.#host.newId()
    if (attachment.session.isGone) await this.#gone(sessionId)
    await attachment.prompt(promptId, content, id)
    return 'answered later'
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
    this.#abandon(sessionId, new ParleyError('SESSION_CLOSED', { session: sessionId }))
    return { result: {} }
  }

  async #delete({ sessionId }: Parsed<'session/delete'>): Promise<Answer> {
    await this.#host.sessions.delete(sessionId)
    this.#abandon(sessionId, new ParleyError('SESSION_CLOSED', { session: sessionId }))
    return { result: {} }
  }

  /** Opening a session again on the same connection replaces the view of it, never adds a second. */
  #attach(session: Session, start: Start): Attachment {
    const former = this.#attachments.get(session.id)
    const attachment = new Attachment(session, this.#host.client, start)
    if (former !== undefined) {
      attachment.inherit(former)
      former.detach()
    }
    this.#attachments.set(session.id, attachment)
    return attachment
  }

  #abandon(sessionId: string, error: ParleyError): void {
    this.#attachments.get(sessionId)?.abandon(error)
    this.#attachments.delete(sessionId)
  }
}

/** The client's own name for the prompt, by which one sent again is recognised. */
function promptIdOf({
  _meta,
}: {
  readonly _meta?: Readonly<Record<string, unknown>> | null | undefined
}): string | undefined {
  const id = _meta?.['parley/promptId']
  return typeof id === 'string' && id !== '' ? id : undefined
}

type GoingOn = Pick<Parsed<'session/load'>, '_meta'>

/** The cursor that the client goes on from, if it names one. Throws CURSOR_BEYOND. */
function startOf({ _meta }: GoingOn, { id, state }: Session): number | undefined {
  const after = _meta?.['parley/after'] ?? undefined
  if (after !== undefined && after > state.seq) fail('CURSOR_BEYOND', { session: id, after, head: state.seq })
  return after
}

function adoptedIn({ _meta }: GoingOn): readonly AdoptedPrompt[] {
  return _meta?.['parley/prompts'] ?? []
}

function goneOn({ state }: Session) {
  return { _meta: { 'parley/seq': state.seq } }
}

function cwdIsGone(cwd: string): string {
  return `The directory ${cwd} of this session is gone. The conversation is whole, but tools that work in it will fail.`
}
