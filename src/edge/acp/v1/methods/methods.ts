/** ACP v1's methods as commands to sessions: one row each. */
import { ParleyError, fail } from '../../../../errors/parley-error.ts'
import { type RequestId, notificationMessage } from '../../../../rpc/json-rpc.ts'
import type { Clock, Timer } from '../../../../ports/clock.ts'
import type { PromptKinds } from '../../../../ports/agent.ts'
import type { SessionDirectory } from '../../../../session/handle.ts'
import type { SessionFiles } from '../../../places/session-files.ts'
import type { SeenMarks } from '../../../seen-marks.ts'
import type { MethodAnswer, Asker, ServerContext, VersionMethods } from '../../version.ts'
import type { Attachment } from '../attachment/attachment.ts'
import { optionOut, shownOptions } from '../render/entry-to-update.ts'
import { type SessionReader, listSessions } from '../session-list/list-sessions.ts'
import { SessionFeed } from '../session-list/session-feed.ts'
import { type OpenContext, OpenMethods, ConnectionAttachments } from './open-methods.ts'
import { type Parsed, asContent, parseParams } from './params.ts'
import { StoredMethods } from './stored-methods.ts'

export interface MethodsContext extends OpenContext {
  /** Methods that ACP has not settled yet are offered too. */
  readonly experimental: boolean
  readonly seen: SeenMarks
  readonly files: () => Promise<SessionFiles>
  readonly clock: Pick<Clock, 'id' | 'setTimer'>
  /** As `ServerContext` has it. */
  readonly watchAgents: ServerContext['watchAgents']
}

/** Half of the 45 seconds after which a silent connection counts as dead. */
const ALIVE_MS = 20_000
/** How long after the answer to `initialize` it is sent, so that the client has that answer first. Milliseconds. */
const AT_ONCE_MS = 1

/** The methods of one connection, and the sessions that it has open. */
export class V1Methods implements VersionMethods {
  readonly #context: MethodsContext
  readonly #sessions: SessionDirectory
  readonly #attachments: ConnectionAttachments
  readonly #open: OpenMethods
  readonly #stored: StoredMethods
  readonly #reader: SessionReader
  readonly #stopSeeing: () => void
  #stopAgents: (() => void) | undefined
  #alive: Timer | undefined
  /** Absent for a client that did not ask for the list. */
  readonly #feed: SessionFeed | undefined

  constructor(context: MethodsContext) {
    this.#context = context
    this.#sessions = context.sessions
    this.#attachments = new ConnectionAttachments(context.sessions, context.client)
    this.#open = new OpenMethods(context, this.#attachments)
    this.#stored = new StoredMethods({
      ...context,
      isOwnPrompt: (sessionId, promptId) => this.#attachments.get(sessionId)?.prompts.isOwn(promptId) === true,
    })
    const { sessions, client, access, seen } = context
    this.#reader = { sessions, isUnread: (row) => seen.isUnread(access.person, row) }
    const { transport } = client
    const report = (error: unknown): void => client.report(error)
    if (client.capabilities.wantsSessionList)
      this.#feed = new SessionFeed({ ...this.#reader, sessions, transport, report })
    this.#stopSeeing = seen.watch((person, id) => {
      if (person === access.person) this.#feed?.look(id).catch(report)
    })
    this.authenticated()
    if (client.capabilities.wantsAlive) this.#sayAlive(AT_ONCE_MS)
  }

  /** The client may list sessions, or may not yet. */
  authenticated(): void {
    if (this.#context.access.allows('session/list')) this.#feed?.start()
    if (this.#context.access.allows('_parley/agents')) this.#sayAgents()
  }

  #sayAgents(): void {
    const { client, watchAgents } = this.#context
    if (!client.capabilities.wantsAgents) return
    this.#stopAgents ??= watchAgents?.((list) => client.transport.send([notificationMessage('_parley/agents', list)]))
  }

  /** A page in a browser cannot see the pings of its WebSocket. */
  #sayAlive(afterMs: number): void {
    const { clock, client } = this.#context
    this.#alive = clock.setTimer(afterMs, () => {
      if (!client.transport.isBackpressured()) client.transport.send([notificationMessage('_parley/alive', {})])
      this.#sayAlive(ALIVE_MS)
    })
  }

  /** Undefined when there is no such method. */
  request(method: string, params: unknown, asker: Asker): Promise<MethodAnswer | 'answered later'> | undefined {
    switch (method) {
      case 'session/new':
        return this.#open.new(parseParams(method, params), asker)
      case 'session/load':
        return this.#open.load(parseParams(method, params), asker)
      case 'session/resume':
        return this.#open.resume(parseParams(method, params), asker)
      case 'session/list':
        return listSessions(this.#reader, parseParams(method, params))
      case 'session/prompt':
        return this.#prompt(parseParams(method, params), asker.id)
      case 'session/set_mode':
        return this.#setMode(parseParams(method, params))
      case 'session/set_config_option':
        return this.#setConfigOption(parseParams(method, params))
      case 'session/fork':
        return this.#context.experimental ? this.#open.fork(parseParams(method, params), asker) : undefined
      case 'session/close':
        return this.#close(parseParams(method, params))
      case 'session/delete':
        return this.#delete(parseParams(method, params))
      case '_parley/ping':
        return Promise.resolve({ result: {} })
      default:
        return this.#stored.request(method, params)
    }
  }

  /** To cancel where nothing runs is no error, and a notification has no answer. */
  async notified(method: string, params: unknown): Promise<void> {
    if (method !== 'session/cancel') return
    const attachment = this.#attachments.get(parseParams(method, params).sessionId)
    await attachment?.session.dispatch({
      kind: 'cancel',
      queued: attachment.prompts.ids,
      by: this.#context.client.author,
    })
  }

  /** `$/cancel_request` of a prompt. */
  async cancelRequest(requestId: RequestId): Promise<void> {
    for (const attachment of this.#attachments.all()) {
      const promptId = attachment.prompts.of(requestId)
      if (promptId !== undefined)
        await attachment.session.dispatch({ kind: 'withdraw', promptId, by: this.#context.client.author })
    }
  }

  /**
   * The client may receive no more of its sessions. Its open prompts are answered with an error, and their turns continue
   * without it.
   */
  logOut(): Promise<void> {
    this.#stopLists()
    return this.#attachments.abandonAll(new ParleyError('AUTH_REQUIRED', { method: 'session/prompt' }))
  }

  /** The client has disconnected: its sessions run on without it. */
  detach(): void {
    this.#stopLists()
    this.#stopSeeing()
    this.#alive?.cancel()
    this.#context.client.peers?.leave()
    this.#attachments.detach()
  }

  #stopLists(): void {
    this.#feed?.stop()
    this.#stopAgents?.()
    this.#stopAgents = undefined
  }

  async #prompt(params: Parsed<'session/prompt'>, id: RequestId): Promise<'answered later'> {
    const attachment = await this.#attached(params.sessionId)
    const content = asContent(params.prompt)
    requireAccepted(content, await attachment.session.promptKinds())
    // The client's own id for the prompt: a prompt that is sent again with the same id runs once.
    const promptId = params._meta?.['parley/promptId'] ?? this.#context.clock.id()
    await attachment.prompt({ promptId, content, meta: metaOfPrompt(params) }, id)
    return 'answered later'
  }

  /** Every attached client is notified of the change, including the client that made it. */
  async #setMode({ sessionId, modeId }: Parsed<'session/set_mode'>): Promise<MethodAnswer> {
    const { session } = await this.#attached(sessionId)
    await session.dispatch({ kind: 'set_mode', modeId })
    return { result: {} }
  }

  /** Answers with all options as they are then. An option that this client cannot show does not exist for it. */
  async #setConfigOption(params: Parsed<'session/set_config_option'>): Promise<MethodAnswer> {
    const { sessionId, configId, value } = params
    const { session } = await this.#attached(sessionId)
    const { display } = this.#context.client.capabilities
    const shown = async () => shownOptions((await session.snapshot()).settings.configOptions, display)
    if (!(await shown()).some(({ id }) => id === configId)) fail('CONFIG_OPTION_UNKNOWN', { option: configId })
    await session.dispatch({ kind: 'set_config_option', configId, value })
    return { result: { configOptions: (await shown()).map(optionOut) } }
  }

  async #attached(sessionId: string): Promise<Attachment> {
    const attachment = this.#attachments.get(sessionId)
    if (attachment?.session.closed.aborted === false) return attachment
    const stored = await this.#sessions.find(sessionId)
    if (stored === undefined) return fail('SESSION_NOT_FOUND', { session: sessionId })
    // Another client has closed it, or it was closed before this client came.
    if (attachment !== undefined || stored.phase === 'closed') return fail('SESSION_CLOSED', { session: sessionId })
    return fail('SESSION_NOT_ATTACHED', { session: sessionId })
  }

  async #close({ sessionId }: Parsed<'session/close'>): Promise<MethodAnswer> {
    await this.#sessions.close(sessionId)
    await this.#attachments.abandon(sessionId, new ParleyError('SESSION_CLOSED', { session: sessionId }))
    return { result: {} }
  }

  async #delete({ sessionId }: Parsed<'session/delete'>): Promise<MethodAnswer> {
    await this.#sessions.delete(sessionId)
    await this.#attachments.abandon(sessionId, new ParleyError('SESSION_CLOSED', { session: sessionId }))
    return { result: {} }
  }
}

function requireAccepted(content: ReturnType<typeof asContent>, accepts: PromptKinds): void {
  const { image, audio, embeddedContext } = accepts
  const accepted = { text: true, resource_link: true, image, audio, resource: embeddedContext }
  const refused = content.find(({ type }) => !accepted[type])
  if (refused === undefined) return
  fail('PARAMS_INVALID', { method: 'session/prompt', reason: `this agent does not take ${refused.type} content` })
}

/** The `_meta` that is stored with the prompt. Our own keys only say how to take it, and are left out. */
function metaOfPrompt({ _meta }: Parsed<'session/prompt'>): Readonly<Record<string, unknown>> | undefined {
  const theirs = Object.entries(_meta ?? {}).filter(([key]) => !key.startsWith('parley/'))
  return theirs.length === 0 ? undefined : Object.fromEntries(theirs)
}
