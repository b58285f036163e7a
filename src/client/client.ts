/** An ACP client on any transport: sessions, prompts and permission requests, through the loss of a connection. Runs in a browser too. */
import type { CodedError } from '../errors/coded-error.ts'
import { fieldsOf } from '../rpc/json-rpc.ts'
import { type ClientDelegate, type ConnectionEvent, GuardedDelegate } from './client-delegate.ts'
import { ClientError, requireOffered } from './client-error.ts'
import type { Peer } from './connection/json-rpc-peer.ts'
import { type ConnectionDeps, ReconnectingConnection } from './connection/reconnecting-connection.ts'
import {
  type PromptResult,
  type SearchResult,
  type Stopping,
  type Suggested,
  promptResultIn,
  searchResultIn,
  sessionIdOf,
  stoppingIn,
  suggestedIn,
} from './connection/responses.ts'
import {
  type AgentChoices,
  type CountedAnswer,
  type OutlinePrompt,
  type SessionPage,
  type FoundFiles,
  countedIn,
  agentsIn,
  directoriesIn,
  exportIn,
  filesIn,
  outlineIn,
  pageIn,
} from './sessions/stored-sessions.ts'
import { Incoming } from './incoming/incoming.ts'
import { PermissionRequests } from './incoming/permission-requests.ts'
import { type Content, sessionsIn } from './incoming/updates.ts'
import {
  type AgentDetails,
  type Capabilities,
  type ClientOptions,
  type NoticeKind,
  capabilitiesOf,
  initialize,
} from './initialize.ts'
import { Attachments, type SessionToOpen, seqOf } from './sessions/attachments.ts'
import { SessionOpener } from './sessions/open-session.ts'
import { QueuedPrompts } from './sessions/queued-prompts.ts'
import { type Setting, settingRequest } from './sessions/agent-settings.ts'

export interface SessionInfo extends SessionToOpen {
  readonly title?: string | null
  readonly updatedAt?: string | null
  /** From a Parley server: `parley/phase`, `parley/agent` and so on, as `docs/internals/protocol.md` lists them. */
  readonly _meta?: Readonly<Record<string, unknown>> | null
}

/**
 * With a Parley server the client outlives its connections: requests that are safe to repeat are repeated, a prompt never;
 * sessions are resumed after the last entry that the client has, and every open prompt gets its one result. Throws
 * PROTOCOL_UNSUPPORTED when the agent speaks no version that we do; the transport is closed then.
 */
export async function connect(deps: ConnectionDeps, delegate: ClientDelegate, options: ClientOptions): Promise<Client> {
  const client = new Client(deps, delegate, options)
  try {
    await client.open()
    return client
  } catch (error) {
    client.close()
    throw error
  }
}

/** A part of a prompt. The agent has said in `can.prompt` which kinds it takes besides text and links. */
export interface PromptContent extends Content {
  /** Base64. */
  readonly data?: string
  readonly resource?: { readonly uri: string; readonly text: string; readonly mimeType?: string }
}

export interface PromptOptions {
  /** Withdraws the prompt while it waits in the queue, and cancels its turn when that runs. */
  readonly withdrawn?: AbortSignal | undefined
  /** The id of the prompt in notices; a new one if absent. */
  readonly promptId?: string
  /** Called with the result before the next message of the server is handled. */
  readonly ended?: (result: PromptResult) => void
}

export class Client {
  readonly #deps: ConnectionDeps
  readonly #options: ClientOptions
  readonly #delegate: GuardedDelegate
  readonly #connection: ReconnectingConnection
  readonly #incoming: Incoming
  readonly #permissions: PermissionRequests
  readonly #attachments: Attachments
  readonly #opener: SessionOpener
  readonly #queuedPrompts = new QueuedPrompts()
  #agent: AgentDetails | undefined
  #isOpen = false
  /** The delegate has failed while there was no connection to end: the next connection is refused. */
  #failure: ClientError | undefined
  /** The present connection, from its first exchange on. */
  #peer: Peer | undefined

  constructor(deps: ConnectionDeps, delegate: ClientDelegate, options: ClientOptions) {
    this.#deps = deps
    this.#options = options
    this.#delegate = new GuardedDelegate(delegate, (error) => this.#delegateFailed(error))
    this.#permissions = new PermissionRequests(
      (question, withdrawn) => this.#delegate.ask(question, withdrawn),
      (id, outcome) => this.#peer?.reply(id, { result: { outcome } }),
    )
    this.#attachments = new Attachments((sessionId, reason) => this.#event({ kind: 'detached', sessionId, reason }))
    const incoming = this.#openIncoming()
    this.#incoming = incoming
    this.#connection = new ReconnectingConnection(deps, {
      peerListener: {
        notified: (method, params) => incoming.notified(method, params),
        requested: (id, method, params) => incoming.requested(id, method, params),
      },
      initialize: (peer) => this.#initialize(peer),
      lost: (isReconnecting) => this.#lost(isReconnecting),
      reconnected: () => this.#event({ kind: 'reconnected' }),
      gaveUp: (reason) => this.#gaveUp(reason),
    })
    this.#opener = new SessionOpener({
      connection: this.#connection,
      attachments: this.#attachments,
    })
  }

  /** Whether notices of this kind come: we have asked for them, and the server offers them. */
  notices(kind: NoticeKind): boolean {
    return this.#options.notices?.includes(kind) === true && this.#agent?.notices.includes(kind) === true
  }

  /** The name of the agent as users see it. */
  get name(): string {
    return this.#agent?.name ?? ''
  }

  /** The agent's version, as it gave it. */
  get version(): string {
    return this.#agent?.version ?? ''
  }

  /** The role that a Parley server gives this client; undefined for other agents. */
  get role(): string | undefined {
    return this.#agent?.role
  }

  /** Whether the server has this method beyond ACP, for this client. */
  offers(method: string): boolean {
    return this.#agent?.parleyMethods?.includes(method) === true
  }

  get can(): Capabilities {
    return this.#agent?.can ?? capabilitiesOf({})
  }

  /** Resolves when the connection has ended for good. */
  get closed(): Promise<void> {
    return this.#connection.closed
  }

  async open(): Promise<void> {
    await this.#connection.peer()
    this.#isOpen = true
  }

  /** The settings of the session's agent; none are known for a session that is not open here. */
  settings(sessionId: string): readonly Setting[] {
    return this.#attachments.settings.of(sessionId)
  }

  /** Throws SETTING_UNKNOWN or SETTING_IMPOSSIBLE before anything is sent. */
  async set(sessionId: string, id: string, value: string): Promise<void> {
    const { method, params } = settingRequest(this.settings(sessionId), id, value)
    const result = fieldsOf(await this.#connection.request(method, { sessionId, ...params }))
    this.#attachments.settings.changed(sessionId, method === 'session/set_mode' ? { currentModeId: value } : result)
  }

  /** `agent`: the name of one that `agents` lists, for this session alone. */
  newSession(cwd: string, { agent }: { readonly agent?: string | undefined } = {}): Promise<string> {
    return this.#opener.create(cwd, agent)
  }

  /** The agents that a new session may have; undefined where the server does not say. */
  async agents(): Promise<AgentChoices | undefined> {
    return this.offers('_parley/agents') ? agentsIn(await this.#call('_parley/agents', {})) : undefined
  }

  /** The model of a session, where its agent named it when the session was opened. */
  modelOf(sessionId: string): string | undefined {
    return this.#attachments.modelOf(sessionId)
  }

  /** The agent of a session that is open here, as the server names it; undefined where it gives no name. */
  agentOf(sessionId: string): string | undefined {
    return this.#attachments.agentOf(sessionId)
  }

  /** The whole conversation comes as updates before this resolves. */
  async loadSession(session: SessionToOpen): Promise<void> {
    requireOffered('session/load', this.can.load)
    await this.#openSession('session/load', session)
  }

  /** Opens a session without a replay of its conversation. Returns the last entry before those that come as updates; 0 if unknown. */
  async resumeSession(session: SessionToOpen): Promise<number> {
    requireOffered('session/resume', this.can.resume)
    return this.#openSession('session/resume', session)
  }

  /** Newest first; further pages are requested as they are needed. */
  async *sessions(cwd?: string): AsyncGenerator<SessionInfo> {
    requireOffered('session/list', this.can.list)
    let cursor: unknown
    do {
      const page = fieldsOf(
        await this.#connection.request('session/list', { ...(cwd && { cwd }), ...(cursor ? { cursor } : {}) }),
      )
      yield* sessionsIn(page['sessions']) as unknown as readonly SessionInfo[]
      cursor = page['nextCursor']
    } while (cursor)
  }

  /** Resolves when the turn has ended, after all its updates. */
  async prompt(
    sessionId: string,
    content: string | readonly PromptContent[],
    options: PromptOptions = {},
  ): Promise<PromptResult> {
    const { withdrawn, promptId = this.#deps.newId(), ended } = options
    const prompt = typeof content === 'string' ? [{ type: 'text', text: content }] : content
    const params = { sessionId, prompt, _meta: { 'parley/promptId': promptId } }
    const peer = await this.#queuedPrompts.wait(sessionId, this.#connection.peer(), withdrawn)
    if (peer === undefined) return { stopReason: 'cancelled' }
    const id = this.#connection.newRequestId()
    const withdraw = (): void => this.#peer?.notify('$/cancel_request', { requestId: id })
    const answered = (result: unknown): void => ended?.(promptResultIn(result))
    const result = this.#attachments.prompt(promptId, params, { peer, id, answered, withdrawn })
    withdrawn?.addEventListener('abort', withdraw)
    try {
      return promptResultIn(await result)
    } finally {
      withdrawn?.removeEventListener('abort', withdraw)
    }
  }

  /** Cancels the turn and answers every permission request of the session as cancelled. The prompt resolves when the turn has ended. */
  cancel(sessionId: string): void {
    this.#queuedPrompts.cancel(sessionId)
    this.#connection.present?.notify('session/cancel', { sessionId })
    this.#attachments.cancel(sessionId, this.#connection.present !== undefined)
    this.#cancelling(sessionId)
  }

  /** As `cancel`, but our prompts in the queue still wait: `withdraw` is the one of the prompt that runs. */
  cancelOnly(sessionId: string, withdraw: AbortController): void {
    withdraw.abort()
    this.#cancelling(sessionId)
  }

  /** Cancels the turn and ends the process of its agent at once, for an agent that does not listen to `cancel`. False if there was none. */
  async forceCancel(sessionId: string): Promise<boolean> {
    this.#requireMethod('_parley/force_cancel')
    this.#cancelling(sessionId)
    return fieldsOf(await this.#connection.request('_parley/force_cancel', { sessionId }))['ended'] === true
  }

  /** Ends the process of an agent that is idle; the next prompt starts it again. False if there was none to end. */
  async release(sessionId: string): Promise<boolean> {
    this.#requireMethod('_parley/release')
    return fieldsOf(await this.#connection.request('_parley/release', { sessionId }))['ended'] === true
  }

  /** A part of the conversation, from its end or from `before` backwards. The session need not be open here. */
  async page(
    sessionId: string,
    where: { readonly before?: number; readonly limit?: number } = {},
  ): Promise<SessionPage> {
    return pageIn(await this.#call('_parley/page', { sessionId, ...where }))
  }

  /** Answers a permission request of any session. May be repeated: the result is how the request ended. */
  async answer(sessionId: string, requestId: string, optionId: string): Promise<CountedAnswer> {
    return countedIn(await this.#call('_parley/answer', { sessionId, requestId, optionId }))
  }

  /** Takes back a waiting prompt of any client. False if it does not wait any more. */
  async withdraw(sessionId: string, promptId: string): Promise<boolean> {
    return (await this.#call('_parley/withdraw', { sessionId, promptId }))['withdrawn'] === true
  }

  /** Makes a prompt that waits the next one; with `now` the turn that runs is cancelled for it. False if it does not wait. */
  async promote(sessionId: string, promptId: string, now = false): Promise<boolean> {
    return (await this.#call('_parley/promote', { sessionId, promptId, now }))['promoted'] === true
  }

  /** The user has seen the session up to this entry; 0 marks it unread. */
  async seen(sessionId: string, seq: number): Promise<void> {
    await this.#call('_parley/seen', { sessionId, seq })
  }

  /** The session as lines of an export, as it is when the first one comes. The session need not be open here. */
  async *exported(sessionId: string): AsyncGenerator<string> {
    let page = exportIn(await this.#call('_parley/export', { sessionId }))
    yield* page.lines
    const { lastSeq: upTo } = page
    while (page.more) {
      page = exportIn(await this.#call('_parley/export', { sessionId, after: page.seq, upTo }))
      yield* page.lines
    }
  }

  /** All prompts of the session, the first one first. */
  async outline(sessionId: string): Promise<readonly OutlinePrompt[]> {
    return outlineIn(await this.#call('_parley/outline', { sessionId }))
  }

  /** Resolves when the server has answered. */
  async ping(): Promise<void> {
    await this.#call('_parley/ping', {})
  }

  /** Methods about access: `list`, `pair`, `token`, `share`, `role` or `remove`. Those that make a secret are not repeated on a new connection. */
  async access(what: string, params: object = {}): Promise<Readonly<Record<string, unknown>>> {
    const method = `_parley/access/${what}`
    this.#requireMethod(method)
    const isSafe = what === 'list' || what === 'role'
    const result = isSafe ? this.#connection.request(method, params) : this.#connection.requestOnce(method, params)
    return fieldsOf(await result)
  }

  /** Files in the session's directories that fit, the best first; none where the server does not offer them. */
  async files(sessionId: string, query: string, limit: number): Promise<FoundFiles> {
    if (!this.offers('_parley/files')) return { files: [], isComplete: true, age: 0 }
    return filesIn(await this.#call('_parley/files', { sessionId, query, limit }))
  }

  /** Directories below `path` in which a session may begin; none where the server does not offer them. */
  async directories(path: string | undefined, query: string): Promise<readonly string[]> {
    if (!this.offers('_parley/directories')) return []
    return directoriesIn(await this.#call('_parley/directories', { path, query }))
  }

  async rename(sessionId: string, title: string): Promise<void> {
    this.#requireMethod('_parley/rename')
    await this.#connection.request('_parley/rename', { sessionId, title })
  }

  /** Takes back what the user has always or never allowed in the session; `grant` is as `parley rules ls --json` lists it. */
  async revoke(sessionId: string, grant: object): Promise<void> {
    this.#requireMethod('_parley/revoke')
    await this.#connection.request('_parley/revoke', { sessionId, grant })
  }

  /** Returns the id of a new session with the entries of this one up to `at`. */
  async fork(sessionId: string, at?: number): Promise<string> {
    this.#requireMethod('_parley/fork')
    const result = await this.#connection.requestOnce('_parley/fork', {
      sessionId,
      ...(at === undefined ? {} : { at }),
    })
    return sessionIdOf('_parley/fork', result)
  }

  /** Completions of the words behind a slash command; none where the server does not offer them. */
  async complete(sessionId: string, command: string, text: string): Promise<Suggested> {
    if (this.#agent?.parleyMethods?.includes('_parley/complete') !== true) return { value: '', values: [] }
    return suggestedIn(await this.#connection.requestOnce('_parley/complete', { sessionId, command, text }))
  }

  /** Passages of all sessions, or of one, that have all words of `query`, newest first. */
  async search(query: string, limit: number, sessionId?: string): Promise<SearchResult> {
    const params = { query, limit, ...(sessionId !== undefined && { sessionId }) }
    return searchResultIn(await this.#call('_parley/search', params))
  }

  /** With `ifIdle`, a server whose turns run does not stop. */
  async stop(how: { readonly graceMs?: number; readonly ifIdle?: boolean } = {}): Promise<Stopping> {
    this.#requireMethod('_parley/stop')
    return stoppingIn(await this.#connection.requestOnce('_parley/stop', how))
  }

  /** Waits until a server that stops is gone, and connects to the next one. */
  async reopen(): Promise<void> {
    // The caller wanted it, so the delegate is not notified of a lost connection.
    this.#isOpen = false
    await this.#connection.ended()
    await this.open()
  }

  async closeSession(sessionId: string): Promise<void> {
    requireOffered('session/close', this.can.close)
    await this.#opener.end('session/close', sessionId)
  }

  async deleteSession(sessionId: string): Promise<void> {
    requireOffered('session/delete', this.can.delete)
    await this.#opener.end('session/delete', sessionId)
  }

  /** Detaches: turns continue, and permission requests wait for another client. */
  close(): void {
    this.#permissions.disconnect()
    this.#attachments.giveUp(new ClientError('CONNECTION_LOST', { method: 'session/prompt' }))
    this.#connection.close()
  }

  async #openSession(method: 'session/load' | 'session/resume', session: SessionToOpen): Promise<number> {
    const widens = (session.additionalDirectories ?? []).some((directory) => directory !== session.cwd)
    if (widens) requireOffered(`${method} with additional directories`, this.can.additionalDirectories)
    return seqOf(await this.#opener.open(method, session))
  }

  #cancelling(sessionId: string): void {
    this.#permissions.cancel(sessionId)
    this.#delegate.cancelling(sessionId)
  }

  /** A request that may be repeated on the next connection. */
  async #call(method: string, params: object): Promise<Readonly<Record<string, unknown>>> {
    this.#requireMethod(method)
    return fieldsOf(await this.#connection.request(method, params))
  }

  #requireMethod(method: string): void {
    requireOffered(method, this.#agent?.parleyMethods?.includes(method) === true)
  }

  async #initialize(peer: Peer): Promise<boolean> {
    const failure = this.#failure
    this.#failure = undefined
    if (failure !== undefined) throw failure
    this.#peer = peer
    this.#agent = await initialize(peer, this.#connection.newRequestId(), this.#options)
    await this.#attachments.resume(peer, () => this.#connection.newRequestId())
    return this.#agent.parleyMethods !== undefined
  }

  #openIncoming(): Incoming {
    return new Incoming({
      delegate: this.#delegate,
      permissions: this.#permissions,
      attachments: this.#attachments,
      settings: this.#attachments.settings,
      services: this.#options.services ?? {},
      peer: () => this.#peer,
      rootsOfNewSession: () => this.#opener.rootsOfNewSession,
      isForeignAgent: () => this.#agent !== undefined && this.#agent.parleyMethods === undefined,
      serverStopping: () => this.#connection.serverStopping(),
    })
  }

  #lost(isReconnecting: boolean): void {
    this.#incoming.disconnected()
    if (isReconnecting) this.#event({ kind: 'reconnecting' })
  }

  #gaveUp(reason: CodedError): void {
    this.#attachments.giveUp(reason)
    this.#event(reason.code === 'SERVER_STOPPED' ? { kind: 'stopped' } : { kind: 'lost', reason })
  }

  /** Requests that wait are rejected with what the delegate threw. */
  #delegateFailed(error: unknown): void {
    const [reason = ''] = (error instanceof Error ? error.message : String(error)).split('\n', 1)
    const why = new ClientError('DELEGATE_FAILED', { reason }, error)
    if (this.#peer === undefined || this.#peer.hasEnded) this.#failure ??= why
    else this.#peer.leave(why)
  }

  #event(event: ConnectionEvent): void {
    if (this.#isOpen) this.#delegate.connection(event)
  }
}
