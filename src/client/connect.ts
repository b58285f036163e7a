/** An ACP client on any pipe: sessions, prompts and their questions, through the loss of a connection. Runs in a browser too. */
import { ParleyError, fail, isParleyError } from '../errors/parley-error.ts'
import { Attachments, type Opening, isLost } from './attachments.ts'
import { type Capabilities, capabilitiesOf, fieldsOf } from './capabilities.ts'
import type { ConnectionEvent, Face } from './face.ts'
import { type Hello, type Introduced, type NoticeKind, introduce } from './hello.ts'
import { Link, type Means } from './link.ts'
import { noticeOf } from './notices.ts'
import { type Peer, type RequestId, requireOffered } from './peer.ts'
import { Questions, type Withdrawal } from './questions.ts'
import { serve } from './serving.ts'
import { type LastWords, ShownTerminals, lastWordsOf } from './shown-terminals.ts'
import { NOTHING_SET, type Setting, type Settings, settingRequest, settingsAfter, settingsOf } from './settings.ts'
import { Unsent } from './unsent.ts'
import type { UpdateParams } from './updates.ts'
import { sessionsIn, updateIn } from './well-formed.ts'

export interface SessionInfo extends Opening {
  readonly title?: string | null
  readonly updatedAt?: string | null
}

/** How a prompt ended, as the agent said it. */
export interface PromptResult {
  readonly stopReason: string
}

/** The stop reason of an agent that names none. */
export const NO_REASON = 'unknown'

/** What stands there of a word, and what it could be. */
export interface Suggested {
  readonly value: string
  readonly values: readonly string[]
}

export interface Stopping {
  readonly stopping: boolean
  /** Turns that run. */
  readonly working: number
}

/**
 * Throws PROTOCOL_UNSUPPORTED, with the pipe closed, when the agent speaks no version that we do. With a Parley server the
 * client outlives its connections: what is safe to repeat is asked again, a prompt never; sessions go on from where they were
 * seen, and every open prompt has its one answer.
 */
export async function connect(means: Means, face: Face, hello: Hello): Promise<Client> {
  const client = new Client(means, face, hello)
  try {
    await client.open()
    return client
  } catch (error) {
    client.close()
    throw error
  }
}

export class Client {
  readonly #means: Means
  readonly #face: Face
  readonly #hello: Hello
  readonly #link: Link
  readonly #questions: Questions
  readonly #attachments: Attachments
  readonly #terminals = new ShownTerminals()
  readonly #settings = new Map<string, Settings>()
  readonly #unsent = new Unsent()
  /** Requests of the agent that we are at. */
  readonly #serving = new Map<RequestId, AbortController>()
  #introduced: Introduced | undefined
  #isOpen = false
  /** The connection that talks to us, from its first exchange on. */
  #peer: Peer | undefined
  #count = 0
  /** The directories of the session that was last asked for: an agent may ask before we know its id. */
  #creating: readonly string[] | undefined

  constructor(means: Means, face: Face, hello: Hello) {
    this.#means = means
    this.#face = face
    this.#hello = hello
    this.#questions = new Questions(
      (question, withdrawn) => face.ask(question, withdrawn),
      (id, outcome) => this.#peer?.answer(id, { outcome }),
    )
    this.#attachments = new Attachments((sessionId, reason) => this.#event({ kind: 'detached', sessionId, reason }))
    this.#link = new Link(means, {
      listener: {
        notified: (method, params) => this.#notified(method, params),
        requested: (id, method, params) => this.#requested(id, method, params),
      },
      greet: (peer) => this.#greet(peer),
      broken: (comesBack) => this.#broken(comesBack),
      back: () => this.#event({ kind: 'reconnected' }),
      given: (reason) => this.#given(reason),
    })
  }

  /** Whether the server tells of this, beside the conversation. */
  notices(kind: NoticeKind): boolean {
    return this.#introduced?.notices.includes(kind) === true
  }

  /** What people call the agent. */
  get name(): string {
    return this.#introduced?.name ?? ''
  }

  /** That of the agent, as it said it. */
  get version(): string {
    return this.#introduced?.version ?? ''
  }

  get can(): Capabilities {
    return this.#introduced?.can ?? capabilitiesOf({})
  }

  /** Resolves when the connection has ended for good. */
  get closed(): Promise<void> {
    return this.#link.closed
  }

  async open(): Promise<void> {
    await this.#link.peer()
    this.#isOpen = true
  }

  /** What the session's agent can be set to; that of a session that is not open here is not known. */
  settings(sessionId: string): readonly Setting[] {
    return settingsOf(this.#settings.get(sessionId) ?? NOTHING_SET)
  }

  /** Throws SETTING_UNKNOWN or SETTING_IMPOSSIBLE, before anybody is asked. */
  async set(sessionId: string, id: string, wish: string): Promise<void> {
    const { method, params } = settingRequest(this.settings(sessionId), id, wish)
    const result = fieldsOf(await this.#ask(method, { sessionId, ...params }))
    const told = method === 'session/set_mode' ? { currentModeId: wish } : result
    this.#settings.set(sessionId, settingsAfter(this.#settings.get(sessionId) ?? NOTHING_SET, told))
  }

  async newSession(cwd: string): Promise<string> {
    this.#creating = [cwd]
    try {
      const result = fieldsOf(await this.#askOnce('session/new', { cwd, mcpServers: [] }))
      const sessionId = sessionIdOf('session/new', result)
      this.#attachments.follow({ sessionId, cwd }, 0)
      this.#attachments.opened(sessionId, result)
      this.#settings.set(sessionId, settingsAfter(NOTHING_SET, result))
      return sessionId
    } finally {
      this.#creating = undefined
    }
  }

  /** Which model answers in a session, where its agent said so when it was opened. */
  modelOf(sessionId: string): string | undefined {
    return this.#attachments.modelOf(sessionId)
  }

  /** The whole conversation comes as updates before this resolves. */
  async loadSession(session: Opening): Promise<void> {
    requireOffered('session/load', this.can.load)
    await this.#openSession('session/load', session)
  }

  /** Goes on without being told what was said. */
  async resumeSession(session: Opening): Promise<void> {
    requireOffered('session/resume', this.can.resume)
    await this.#openSession('session/resume', session)
  }

  /** Newest first, page by page as they are wanted. */
  async *sessions(cwd?: string): AsyncGenerator<SessionInfo> {
    requireOffered('session/list', this.can.list)
    let cursor: unknown
    do {
      const page = fieldsOf(await this.#ask('session/list', { ...(cwd && { cwd }), ...(cursor ? { cursor } : {}) }))
      yield* sessionsIn(page['sessions']) as unknown as readonly SessionInfo[]
      cursor = page['nextCursor']
    } while (cursor)
  }

  /**
   * Resolves when the turn has ended, after everything that it said. `withdrawn` takes the prompt back while it waits in the
   * queue; one that runs is cancelled by `cancel`.
   */
  async prompt(sessionId: string, text: string, withdrawn?: AbortSignal): Promise<PromptResult> {
    const promptId = this.#means.newId()
    const params = { sessionId, prompt: [{ type: 'text', text }], _meta: { 'parley/promptId': promptId } }
    const peer = await this.#unsent.wait(sessionId, this.#link.peer(), withdrawn)
    if (peer === undefined) return { stopReason: 'cancelled' }
    const id = this.#newId()
    const withdraw = (): void => this.#peer?.notify('$/cancel_request', { requestId: id })
    const answer = this.#attachments.prompt(promptId, params, { peer, id })
    withdrawn?.addEventListener('abort', withdraw)
    try {
      const result = fieldsOf(await answer)
      return { ...result, stopReason: typeof result['stopReason'] === 'string' ? result['stopReason'] : NO_REASON }
    } finally {
      withdrawn?.removeEventListener('abort', withdraw)
    }
  }

  /** Asks the turn to end, and answers every question of the session as cancelled. The prompt tells when it has. */
  cancel(sessionId: string): void {
    this.#unsent.cancel(sessionId)
    this.#link.present?.notify('session/cancel', { sessionId })
    this.#attachments.cancel(sessionId, this.#link.present !== undefined)
    this.#questions.cancel(sessionId)
    this.#face.cancelling?.(sessionId)
  }

  async rename(sessionId: string, title: string): Promise<void> {
    this.#requireMethod('_parley/rename')
    await this.#ask('_parley/rename', { sessionId, title })
  }

  /** What was always allowed in the session is asked about again. */
  async revoke(sessionId: string, allowance: string): Promise<void> {
    this.#requireMethod('_parley/revoke')
    await this.#ask('_parley/revoke', { sessionId, allowance })
  }

  /** The id of a new session that begins as this one does, up to `at`. */
  async fork(sessionId: string, at?: number): Promise<string> {
    this.#requireMethod('_parley/fork')
    const result = await this.#askOnce('_parley/fork', { sessionId, ...(at === undefined ? {} : { at }) })
    return sessionIdOf('_parley/fork', fieldsOf(result))
  }

  /** What the words behind a slash command could become; nothing where the server cannot say. */
  async complete(sessionId: string, command: string, text: string): Promise<Suggested> {
    if (this.#introduced?.parley?.includes('_parley/complete') !== true) return { value: '', values: [] }
    const { value, values } = fieldsOf(await this.#askOnce('_parley/complete', { sessionId, command, text }))
    const words = Array.isArray(values) ? values.filter((one): one is string => typeof one === 'string') : []
    return { value: typeof value === 'string' ? value : '', values: words }
  }

  /** `ifIdle` leaves a server alone whose turns run. */
  async stop(how: { readonly graceMs?: number; readonly ifIdle?: boolean } = {}): Promise<Stopping> {
    this.#requireMethod('_parley/stop')
    const { stopping, working } = fieldsOf(await this.#askOnce('_parley/stop', how))
    return { stopping: stopping === true, working: typeof working === 'number' ? working : 0 }
  }

  /** Waits for a server that is stopping to be gone, and reaches the next one. */
  async reopen(): Promise<void> {
    // It was wanted, so nobody is told of a loss.
    this.#isOpen = false
    await this.#link.gone()
    await this.open()
  }

  async closeSession(sessionId: string): Promise<void> {
    requireOffered('session/close', this.can.close)
    await this.#end('session/close', sessionId)
  }

  async deleteSession(sessionId: string): Promise<void> {
    requireOffered('session/delete', this.can.delete)
    await this.#end('session/delete', sessionId)
  }

  /** Detaches: turns go on, and questions wait for somebody else. */
  close(): void {
    this.#questions.disconnect()
    this.#attachments.giveUp(new ParleyError('CONNECTION_LOST', { method: 'session/prompt' }))
    this.#link.close()
  }

  async #openSession(method: 'session/load' | 'session/resume', session: Opening): Promise<void> {
    const { sessionId } = session
    const widens = (session.additionalDirectories ?? []).some((directory) => directory !== session.cwd)
    if (widens) requireOffered(`${method} with additional directories`, this.can.additionalDirectories)
    this.#attachments.follow(session, 0)
    try {
      const open = (peer: Peer) => this.#attachments.open(method, sessionId, { peer, id: this.#newId() })
      this.#settings.set(sessionId, settingsAfter(NOTHING_SET, fieldsOf(await this.#persist(open))))
    } catch (error) {
      this.#attachments.forget(sessionId)
      throw error
    }
  }

  /** Ended already is what was wanted, if it was we who asked before. */
  async #end(method: string, sessionId: string): Promise<void> {
    let asked = 0
    this.#attachments.forget(sessionId)
    try {
      await this.#persist((peer) => {
        asked += 1
        return peer.request(this.#newId(), method, { sessionId })
      })
    } catch (error) {
      if (asked < 2 || !isParleyError(error, 'PEER_REFUSED')) throw error
      if (!['SESSION_NOT_FOUND', 'SESSION_CLOSED'].includes(error.details.code)) throw error
    }
  }

  #ask(method: string, params: unknown): Promise<unknown> {
    return this.#persist((peer) => peer.request(this.#newId(), method, params))
  }

  /** For what must not happen twice: lost with its connection, it may have happened. */
  async #askOnce(method: string, params: unknown): Promise<unknown> {
    const peer = await this.#link.peer()
    return peer.request(this.#newId(), method, params)
  }

  /** Asks on one connection after the other until there is an answer, or no connection any more. */
  async #persist<Result>(ask: (peer: Peer) => Promise<Result>): Promise<Result> {
    for (;;) {
      const peer = await this.#link.peer()
      try {
        return await ask(peer)
      } catch (error) {
        if (!isLost(error) || !this.#link.comesBack) throw error
      }
    }
  }

  #requireMethod(method: string): void {
    requireOffered(method, this.#introduced?.parley?.includes(method) === true)
  }

  #newId(): number {
    this.#count += 1
    return this.#count - 1
  }

  async #greet(peer: Peer): Promise<boolean> {
    this.#peer = peer
    this.#introduced = await introduce(peer, this.#newId(), this.#hello)
    await this.#attachments.takeUp(peer, () => this.#newId())
    return this.#introduced.parley !== undefined
  }

  #withdrawn(id: RequestId): void {
    this.#questions.withdraw(id)
    this.#serving.get(id)?.abort('elsewhere' satisfies Withdrawal)
  }

  #broken(comesBack: boolean): void {
    this.#questions.disconnect()
    for (const one of this.#serving.values()) one.abort('disconnected' satisfies Withdrawal)
    if (comesBack) this.#event({ kind: 'reconnecting' })
  }

  #given(reason: ParleyError): void {
    this.#attachments.giveUp(reason)
    this.#event(reason.code === 'SERVER_STOPPED' ? { kind: 'stopped' } : { kind: 'lost', reason })
  }

  #event(event: ConnectionEvent): void {
    if (this.#isOpen) this.#face.connection?.(event)
  }

  #notified(method: string, params: unknown): void {
    if (method === 'session/update') return this.#told(updateIn(params))
    if (method === '$/cancel_request') return this.#withdrawn(fieldsOf(params)['requestId'] as RequestId)
    if (method === '_parley/server') return this.#link.stopping()
    const notice = noticeOf(method, params, (promptId) => this.#attachments.isMine(promptId))
    if (notice === undefined) return
    if (notice.kind === 'turn') this.#attachments.stands(notice.sessionId, notice.phase)
    this.#face.noticed?.(notice)
  }

  #told(update: UpdateParams | undefined): void {
    if (update === undefined || this.#isForeign(update.sessionId)) return
    this.#attachments.seen(update)
    const known = this.#settings.get(update.sessionId)
    if (known !== undefined) this.#settings.set(update.sessionId, settingsAfter(known, update.update))
    this.#face.updated(this.#terminals.seen(update))
  }

  /** A server of ours tells of a session's end after we have left it; another agent has nothing to say of what we did not open. */
  #isForeign(sessionId: string): boolean {
    const isOpen = this.#creating !== undefined || this.#attachments.rootsOf(sessionId) !== undefined
    return this.#introduced !== undefined && this.#introduced.parley === undefined && !isOpen
  }

  #requested(id: RequestId, method: string, params: unknown): boolean {
    if (method !== 'session/request_permission') return this.#serve(id, method, params)
    this.#questions.put(id, params)
    return true
  }

  #released({ terminalId, output }: LastWords): void {
    for (const params of this.#terminals.released(terminalId, output)) this.#face.updated(params)
  }

  #serve(id: RequestId, method: string, params: unknown): boolean {
    const peer = this.#peer
    const rootsOf = (sessionId: string) => this.#attachments.rootsOf(sessionId) ?? this.#creating
    const services = this.#hello.serves ?? {}
    // What it has said is read before it goes.
    const words = method === 'terminal/release' ? lastWordsOf(services, params) : undefined
    const withdrawn = new AbortController()
    const served = serve(services, rootsOf, { method, params, withdrawn: withdrawn.signal })
    if (served !== undefined) this.#serving.set(id, withdrawn)
    void served?.then((answer) => {
      this.#serving.delete(id)
      peer?.reply(id, answer)
    })
    void words?.then((said) => said && this.#released(said))
    return served !== undefined
  }
}

function sessionIdOf(method: string, { sessionId }: Readonly<Record<string, unknown>>): string {
  if (typeof sessionId === 'string') return sessionId
  return fail('AGENT_ANSWER_INVALID', { method, reason: 'it names no session' })
}
