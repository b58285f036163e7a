/** An ACP client on any pipe: sessions, prompts and their questions, through the loss of a connection. Runs in a browser too. */
import { ParleyError, reasonOf } from '../errors/parley-error.ts'
import {
  type PromptResult,
  type Stopping,
  type Suggested,
  promptResultIn,
  sessionIdOf,
  stoppingIn,
  suggestedIn,
} from './connection/responses.ts'
import { Attachments, type Opening } from './sessions/attachments.ts'
import { type Capabilities, capabilitiesOf, fieldsOf } from './initialize/capabilities.ts'
import { type ConnectionEvent, type ClientDelegate, GuardedFace } from './client-delegate.ts'
import { type Hello, type Introduced, type NoticeKind, introduce } from './initialize/initialize.ts'
import { Hearing } from './incoming/incoming.ts'
import { ReconnectingConnection, type Means } from './connection/reconnecting-connection.ts'
import { Openings } from './sessions/open-session.ts'
import { type Peer, requireOffered } from './connection/json-rpc-peer.ts'
import { Questions } from './incoming/permission-requests.ts'
import { Requests } from './connection/requests.ts'
import { KnownSettings, type Setting, settingRequest } from './sessions/settings.ts'
import { QueuedPrompts } from './sessions/queued-prompts.ts'
import { sessionsIn } from './incoming/sanitize.ts'

export interface SessionInfo extends Opening {
  readonly title?: string | null
  readonly updatedAt?: string | null
}

/**
 * Throws PROTOCOL_UNSUPPORTED, with the pipe closed, when the agent speaks no version that we do. With a Parley server the
 * client outlives its connections: what is safe to repeat is asked again, a prompt never; sessions go on from where they were
 * seen, and every open prompt has its one answer.
 */
export async function connect(means: Means, face: ClientDelegate, hello: Hello): Promise<Client> {
  const client = new Client(means, face, hello)
  try {
    await client.open()
    return client
  } catch (error) {
    client.close()
    throw error
  }
}

export interface Prompting {
  /** Takes the prompt back while it waits in the queue, and ends its turn when that runs. */
  readonly withdrawn?: AbortSignal | undefined
  /** The id that the prompt has in notices; one of our own otherwise. */
  readonly promptId?: string
  /** Called with the answer before anything is heard that the server said after it. */
  readonly ended?: (result: PromptResult) => void
}

export class Client {
  readonly #means: Means
  readonly #face: GuardedFace
  readonly #hello: Hello
  readonly #link: ReconnectingConnection
  readonly #hears: Hearing
  readonly #questions: Questions
  readonly #attachments: Attachments
  readonly #settings = new KnownSettings()
  readonly #requests: Requests
  readonly #openings: Openings
  readonly #unsent = new QueuedPrompts()
  #introduced: Introduced | undefined
  #isOpen = false
  /** The face has failed while there was no connection to end: the next one is not begun. */
  #failure: ParleyError | undefined
  /** The connection that talks to us, from its first exchange on. */
  #peer: Peer | undefined

  constructor(means: Means, face: ClientDelegate, hello: Hello) {
    this.#means = means
    this.#face = new GuardedFace(face, (error) => this.#faceFailed(error))
    this.#hello = hello
    this.#questions = new Questions(
      (question, withdrawn) => this.#face.ask(question, withdrawn),
      (id, outcome) => this.#peer?.answer(id, { outcome }),
    )
    this.#attachments = new Attachments((sessionId, reason) => this.#event({ kind: 'detached', sessionId, reason }))
    const hearing = this.#hearing()
    this.#hears = hearing
    this.#link = new ReconnectingConnection(means, {
      listener: {
        notified: (method, params) => hearing.notified(method, params),
        requested: (id, method, params) => hearing.requested(id, method, params),
      },
      greet: (peer) => this.#greet(peer),
      broken: (comesBack) => this.#broken(comesBack),
      back: () => this.#event({ kind: 'reconnected' }),
      given: (reason) => this.#given(reason),
    })
    this.#requests = new Requests(this.#link)
    this.#openings = new Openings({
      requests: this.#requests,
      attachments: this.#attachments,
      settings: this.#settings,
    })
  }

  /** Whether the server tells us of this, beside the conversation: we have asked for it, and it can. */
  notices(kind: NoticeKind): boolean {
    return this.#hello.notices?.includes(kind) === true && this.#introduced?.notices.includes(kind) === true
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
    return this.#settings.of(sessionId)
  }

  /** Throws SETTING_UNKNOWN or SETTING_IMPOSSIBLE, before anybody is asked. */
  async set(sessionId: string, id: string, wish: string): Promise<void> {
    const { method, params } = settingRequest(this.settings(sessionId), id, wish)
    const result = fieldsOf(await this.#requests.ask(method, { sessionId, ...params }))
    this.#settings.told(sessionId, method === 'session/set_mode' ? { currentModeId: wish } : result)
  }

  newSession(cwd: string): Promise<string> {
    return this.#openings.begin(cwd)
  }

  /** Which model answers in a session, where its agent said so when it was opened. */
  modelOf(sessionId: string): string | undefined {
    return this.#attachments.modelOf(sessionId)
  }

  /** What answers in a session that is open here, as its server names it; undefined where that does not say. */
  agentOf(sessionId: string): string | undefined {
    return this.#attachments.agentOf(sessionId)
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
      const page = fieldsOf(
        await this.#requests.ask('session/list', { ...(cwd && { cwd }), ...(cursor ? { cursor } : {}) }),
      )
      yield* sessionsIn(page['sessions']) as unknown as readonly SessionInfo[]
      cursor = page['nextCursor']
    } while (cursor)
  }

  /** Resolves when the turn has ended, after everything that it said. */
  async prompt(sessionId: string, text: string, prompting: Prompting = {}): Promise<PromptResult> {
    const { withdrawn, promptId = this.#means.newId(), ended } = prompting
    const params = { sessionId, prompt: [{ type: 'text', text }], _meta: { 'parley/promptId': promptId } }
    const peer = await this.#unsent.wait(sessionId, this.#link.peer(), withdrawn)
    if (peer === undefined) return { stopReason: 'cancelled' }
    const id = this.#requests.newId()
    const withdraw = (): void => this.#peer?.notify('$/cancel_request', { requestId: id })
    const answered = (result: unknown): void => ended?.(promptResultIn(result))
    const answer = this.#attachments.prompt(promptId, params, { peer, id, answered, withdrawn })
    withdrawn?.addEventListener('abort', withdraw)
    try {
      return promptResultIn(await answer)
    } finally {
      withdrawn?.removeEventListener('abort', withdraw)
    }
  }

  /** Asks the turn to end, and answers every question of the session as cancelled. The prompt tells when it has. */
  cancel(sessionId: string): void {
    this.#unsent.cancel(sessionId)
    this.#link.present?.notify('session/cancel', { sessionId })
    this.#attachments.cancel(sessionId, this.#link.present !== undefined)
    this.#cancelling(sessionId)
  }

  /** As `cancel`, but prompts of ours that wait in the queue go on waiting: `withdraw` is for the prompt that runs. */
  cancelOnly(sessionId: string, withdraw: AbortController): void {
    withdraw.abort()
    this.#cancelling(sessionId)
  }

  async rename(sessionId: string, title: string): Promise<void> {
    this.#requireMethod('_parley/rename')
    await this.#requests.ask('_parley/rename', { sessionId, title })
  }

  /** Takes back what the user has always or never allowed in the session; `grant` is as `parley rules ls --json` lists it. */
  async revoke(sessionId: string, grant: object): Promise<void> {
    this.#requireMethod('_parley/revoke')
    await this.#requests.ask('_parley/revoke', { sessionId, grant })
  }

  /** The id of a new session that begins as this one does, up to `at`. */
  async fork(sessionId: string, at?: number): Promise<string> {
    this.#requireMethod('_parley/fork')
    const result = await this.#requests.askOnce('_parley/fork', { sessionId, ...(at === undefined ? {} : { at }) })
    return sessionIdOf('_parley/fork', result)
  }

  /** What the words behind a slash command could become; nothing where the server cannot say. */
  async complete(sessionId: string, command: string, text: string): Promise<Suggested> {
    if (this.#introduced?.parley?.includes('_parley/complete') !== true) return { value: '', values: [] }
    return suggestedIn(await this.#requests.askOnce('_parley/complete', { sessionId, command, text }))
  }

  /** `ifIdle` leaves a server alone whose turns run. */
  async stop(how: { readonly graceMs?: number; readonly ifIdle?: boolean } = {}): Promise<Stopping> {
    this.#requireMethod('_parley/stop')
    return stoppingIn(await this.#requests.askOnce('_parley/stop', how))
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
    await this.#openings.end('session/close', sessionId)
  }

  async deleteSession(sessionId: string): Promise<void> {
    requireOffered('session/delete', this.can.delete)
    await this.#openings.end('session/delete', sessionId)
  }

  /** Detaches: turns go on, and questions wait for somebody else. */
  close(): void {
    this.#questions.disconnect()
    this.#attachments.giveUp(new ParleyError('CONNECTION_LOST', { method: 'session/prompt' }))
    this.#link.close()
  }

  async #openSession(method: 'session/load' | 'session/resume', session: Opening): Promise<void> {
    const widens = (session.additionalDirectories ?? []).some((directory) => directory !== session.cwd)
    if (widens) requireOffered(`${method} with additional directories`, this.can.additionalDirectories)
    await this.#openings.open(method, session)
  }

  #cancelling(sessionId: string): void {
    this.#questions.cancel(sessionId)
    this.#face.cancelling(sessionId)
  }

  #requireMethod(method: string): void {
    requireOffered(method, this.#introduced?.parley?.includes(method) === true)
  }

  async #greet(peer: Peer): Promise<boolean> {
    const failure = this.#failure
    this.#failure = undefined
    if (failure !== undefined) throw failure
    this.#peer = peer
    this.#introduced = await introduce(peer, this.#requests.newId(), this.#hello)
    await this.#attachments.takeUp(peer, () => this.#requests.newId())
    return this.#introduced.parley !== undefined
  }

  #hearing(): Hearing {
    return new Hearing({
      face: this.#face,
      questions: this.#questions,
      attachments: this.#attachments,
      settings: this.#settings,
      services: this.#hello.serves ?? {},
      peer: () => this.#peer,
      creating: () => this.#openings.creating,
      isStranger: () => this.#introduced !== undefined && this.#introduced.parley === undefined,
      stopping: () => this.#link.stopping(),
    })
  }

  #broken(comesBack: boolean): void {
    this.#hears.disconnected()
    if (comesBack) this.#event({ kind: 'reconnecting' })
  }

  #given(reason: ParleyError): void {
    this.#attachments.giveUp(reason)
    this.#event(reason.code === 'SERVER_STOPPED' ? { kind: 'stopped' } : { kind: 'lost', reason })
  }

  /** Whoever waits for an answer hears what the face threw. */
  #faceFailed(error: unknown): void {
    const why = new ParleyError('FACE_FAILED', { reason: reasonOf(error) }, error)
    if (this.#peer === undefined || this.#peer.ended) this.#failure ??= why
    else this.#peer.leave(why)
  }

  #event(event: ConnectionEvent): void {
    if (this.#isOpen) this.#face.connection(event)
  }
}
