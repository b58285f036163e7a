/** All that the page knows: its connection, the sessions, those that are open, and where the reader is. */
import { type Signal, computed, signal } from '@preact/signals'
import { type Client, connect } from '../../client/client.ts'
import type { ClientDelegate, ConnectionEvent } from '../../client/client-delegate.ts'
import { isLost } from '../../client/client-error.ts'
import type { Notice, SessionsNotice } from '../../client/incoming/notices.ts'
import type { PermissionQuestion } from '../../client/incoming/permission-requests.ts'
import type { UpdateParams } from '../../client/incoming/updates.ts'
import { Dialling } from '../connection/dialling.ts'
import { words } from '../i18n/language.ts'
import { spelledOut } from '../markdown/invisible.ts'
import { deviceName } from '../connection/pairing.ts'
import { type SessionRow, groupOf, listAfter } from './groups.ts'
import { OncePerFrame } from './frames.ts'
import { inquiriesOf } from './inquiries.ts'
import { keep } from './kept.ts'
import { randomHexId } from '../../client/connection/over-web-socket.ts'
import { codeOf, firstAnswer, sentenceOf } from './error-sentences.ts'
import { OpenSession } from './open-session.ts'
import { Router } from './place.ts'

/** How long a deletion can be undone; nothing is sent before. */
const UNDO_MS = 10_000

/** Each may do what those before it may. */
const ROLES: readonly string[] = ['read', 'prompt', 'approve', 'admin']

interface SessionToMake {
  readonly cwd: string
  readonly firstPrompt: string
  /** Undefined: the usual one. */
  readonly agent: string | undefined
}

export class App implements ClientDelegate {
  readonly router = new Router()
  readonly dialling = new Dialling()
  /** Undefined until the first answer. */
  readonly listed: Signal<readonly SessionRow[] | undefined> = signal(undefined)
  /** As it was when this browser was last connected; shown until there is an answer. */
  readonly lastList: Signal<readonly SessionRow[]> = signal([])
  readonly deleting: Signal<{ readonly id: string; readonly title: string } | undefined> = signal(undefined)
  /** Not connected for longer than a moment. */
  readonly isLongOffline = signal(false)
  /** The server does not reach its database. */
  readonly isUncertain = signal(false)
  /** For screen readers: one event at a time. */
  readonly told = signal('')
  readonly trouble = signal('')
  /** The server is another than the one that this page came from. */
  readonly isOutdated = signal(false)
  readonly opened: Signal<ReadonlyMap<string, OpenSession>> = signal(new Map())
  readonly rows = computed(() => this.#rows())
  /** Sessions that wait for the reader. */
  readonly waiting = computed(() => this.rows.value.filter((row) => groupOf(row) === 'waits'))
  readonly current = computed(() => this.#current())
  /** The title of the session that is looked at. */
  readonly title = computed(() => this.#title())
  #client: Client | undefined
  #version = ''
  #whenConnected: (client: Client) => void = () => undefined
  /** Resolves with the client once it has been connected; screens may be there before. */
  readonly connected = new Promise<Client>((resolve) => (this.#whenConnected = resolve))
  readonly #listNews: SessionsNotice[] = []
  readonly #listFrame = new OncePerFrame(() => this.#takeListNews())
  #whenListed: () => void = () => undefined
  /** Resolves once sessions are listed. */
  readonly hasList = new Promise<void>((resolve) => (this.#whenListed = resolve))
  #undo: ReturnType<typeof setTimeout> | undefined

  get client(): Client | undefined {
    return this.#client
  }

  async start(): Promise<void> {
    const deps = {
      dial: () => this.dialling.dial(),
      pause: (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms)),
      newId: randomHexId,
    }
    const info = { name: 'parley-page', title: deviceName(), version: '1' }
    const notices = ['turn', 'queue', 'presence', 'mcp', 'agent', 'resolved', 'sessions', 'alive'] as const
    const services = inquiriesOf((id) => this.opened.peek().get(id))
    while (this.#client === undefined) {
      try {
        this.#client = await connect(deps, this, { info, notices, services, places: true })
      } catch (error) {
        // The connection was lost before the server had answered; the bar says so.
        if (!isLost(error)) this.trouble.value = sentenceOf(error)
        await this.dialling.pause()
      }
    }
    this.trouble.value = ''
    this.#version = this.#client.version
    this.dialling.connected()
    this.#whenConnected(this.#client)
  }

  /** True where the role of this device is too low. */
  mayNot(needed: 'prompt' | 'approve' | 'admin'): boolean {
    // Each new connection may bring another role.
    const role = this.dialling.line.value.kind === 'on' ? this.#client?.role : undefined
    return role !== undefined && ROLES.indexOf(role) < ROLES.indexOf(needed)
  }

  /** Answers the question of a session in the list, whether or not it is open here. */
  async answer({ sessionId, waiting }: SessionRow, optionId: string): Promise<void> {
    if (waiting === undefined) return
    const open = this.opened.peek().get(sessionId)?.questions.peek()[0]
    if (waiting.requestId === '') return open?.answer(optionId)
    await this.attempt(async () => {
      const answered = await this.#client?.answer(sessionId, waiting.requestId, optionId)
      if (answered?.counted === false) this.trouble.value = firstAnswer(answered, waiting.options)
    })
  }

  /** The reader has seen all of the session. */
  async seen(id: string): Promise<void> {
    const { lastSeq } = this.listed.value?.find(({ sessionId }) => sessionId === id) ?? {}
    // A role may not say so, and then it stays unread here.
    if (lastSeq !== undefined) await this.#client?.seen(id, lastSeq).catch(() => undefined)
  }

  /** On all devices of this person, until it is seen again. */
  async markUnread(id: string): Promise<void> {
    this.router.go({ screen: 'sessions' })
    await this.attempt(async () => this.#client?.seen(id, 0))
  }

  /** Opens the session if it is not, with all from the entry `seq` on; undefined while the list is not known. */
  session(id: string, seq?: number): OpenSession | undefined {
    const open = this.opened.peek().get(id)
    const row = this.listed.value?.find(({ sessionId }) => sessionId === id)
    if (open !== undefined || row === undefined || this.#client === undefined) return open
    const session = new OpenSession(this.#client, row)
    this.#add(session)
    void session.load(seq)
    return session
  }

  async create({ cwd, firstPrompt, agent }: SessionToMake): Promise<void> {
    // The form may be there, and filled in, before the connection is.
    const client = await this.connected
    const sessionId = await client.newSession(cwd, { agent })
    const session = new OpenSession(client, { sessionId, cwd })
    session.opened()
    this.#add(session)
    const listed = this.listed.value ?? []
    // The server's notification may have come before its answer.
    if (!listed.some((row) => row.sessionId === sessionId))
      this.listed.value = [{ sessionId, cwd, updatedAt: new Date().toISOString() }, ...listed]
    this.router.go({ screen: 'session', id: sessionId, seq: undefined }, 'replace')
    if (firstPrompt.trim() !== '') session.sendNew(firstPrompt)
  }

  async rename(id: string, title: string): Promise<void> {
    await this.attempt(async () => this.#client?.rename(id, title))
  }

  /** `draft`: what is to be written there instead. */
  async fork(
    id: string,
    { at, draft = '' }: { readonly at?: number | undefined; readonly draft?: string } = {},
  ): Promise<void> {
    await this.attempt(async () => {
      const sessionId = await this.#client?.fork(id, at)
      if (sessionId === undefined) return
      keep(`draft.${sessionId}`, draft)
      this.router.go({ screen: 'session', id: sessionId, seq: undefined })
    })
  }

  /** Saves the whole conversation as a file. */
  async export({ id }: OpenSession, title: string): Promise<void> {
    await this.attempt(async () => {
      if (this.#client === undefined) return
      const { exported, save } = await import('../thread/export.ts')
      save(
        await exported(this.#client, id, title),
        `${
          title
            .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
            .slice(0, 60)
            .trim() || id
        }.md`,
      )
    })
  }

  async closeSession(id: string): Promise<void> {
    // Its screen would open it again.
    this.router.go({ screen: 'sessions' })
    await this.attempt(async () => this.#client?.closeSession(id))
    this.#forget(id)
  }

  /** The session is out of sight at once, and deleted when the time for undo is over. */
  deleteLater(id: string, title: string): void {
    this.deleteNow()
    this.deleting.value = { id, title }
    this.#undo = setTimeout(() => this.deleteNow(), UNDO_MS)
    if (this.router.place.value.screen === 'session') this.router.go({ screen: 'sessions' })
  }

  undoDelete(): void {
    clearTimeout(this.#undo)
    this.deleting.value = undefined
  }

  deleteNow(): void {
    const { id } = this.deleting.value ?? {}
    this.undoDelete()
    if (id === undefined) return
    this.listed.value = this.listed.value?.filter(({ sessionId }) => sessionId !== id)
    void this.attempt(async () => this.#client?.deleteSession(id)).then(() => {
      this.#forget(id)
    })
  }

  async attempt(work: () => Promise<void>): Promise<void> {
    this.trouble.value = ''
    try {
      await work()
    } catch (error) {
      this.trouble.value = sentenceOf(error)
    }
  }

  updated(params: UpdateParams): void {
    this.opened.peek().get(params.sessionId)?.updated(params)
  }

  noticed(notice: Notice): void {
    if (notice.kind === 'sessions') this.#listed(notice)
    else if (notice.kind !== 'alive') this.opened.peek().get(notice.sessionId)?.noticed(notice)
  }

  ask(question: PermissionQuestion, withdrawn: AbortSignal): Promise<string | null> {
    const session = this.opened.peek().get(question.sessionId)
    return session === undefined ? new Promise(() => undefined) : session.ask(question, withdrawn)
  }

  cancelling(sessionId: string): void {
    this.opened.peek().get(sessionId)?.cancelling()
  }

  connection(event: ConnectionEvent): void {
    this.isUncertain.value = event.kind === 'uncertain'
    if (event.kind === 'uncertain' || event.kind === 'certain') return
    if (event.kind === 'reconnected') {
      this.dialling.connected()
      this.isOutdated.value = this.#client !== undefined && this.#client.version !== this.#version
    } else if (event.kind === 'detached') {
      this.#detached(event.sessionId, event.reason)
    } else if (event.kind !== 'reconnecting') {
      // The server was stopped, or refused us: the list asks until it is there again.
      void this.#client?.open().then(
        () => this.connection({ kind: 'reconnected' }),
        () => undefined,
      )
    }
  }

  /** It is opened again when it is looked at. */
  #detached(id: string, reason: unknown): void {
    const title = this.listed.value?.find(({ sessionId }) => sessionId === id)?.title ?? ''
    const { anew, untitled } = words()
    if (codeOf(reason) === 'CURSOR_BEYOND') this.trouble.value = anew(title === '' ? untitled : spelledOut(title))
    this.#forget(id)
  }

  #listed(notice: SessionsNotice): void {
    // The first part of a snapshot shows at once; the others, and what many busy sessions say, at most once a frame.
    this.#listNews.push(notice)
    if (this.listed.value === undefined) this.#takeListNews()
    else this.#listFrame.want()
  }

  #takeListNews(): void {
    const news = this.#listNews.splice(0)
    if (news.length > 0) this.listed.value = news.reduce(listAfter, this.listed.value ?? [])
    this.#whenListed()
  }

  #add(session: OpenSession): void {
    this.opened.value = new Map([...this.opened.peek(), [session.id, session]])
  }

  #forget(id: string): void {
    this.opened.value = new Map([...this.opened.peek()].filter(([one]) => one !== id))
  }

  #current(): OpenSession | undefined {
    const place = this.router.place.value
    return place.screen === 'session' ? this.opened.value.get(place.id) : undefined
  }

  #title(): string | undefined {
    const place = this.router.place.value
    if (place.screen !== 'session') return undefined
    return this.rows.value.find(({ sessionId }) => sessionId === place.id)?.title ?? undefined
  }

  /** What the list says, and what is known better of sessions that are open here. */
  #rows(): readonly SessionRow[] {
    const gone = this.deleting.value?.id
    const listed = this.listed.value ?? (this.isLongOffline.value ? this.lastList.value : [])
    const shown = gone === undefined ? listed : listed.filter(({ sessionId }) => sessionId !== gone)
    const opened = this.opened.value
    if (opened.size === 0) return shown
    return shown.map((row) => {
      const open = opened.get(row.sessionId)
      return open === undefined ? row : knownBetter(row, open)
    })
  }

  /** The next session that waits for the reader. */
  nextThatWaits(): string | undefined {
    const waiting = this.waiting.value.map(({ sessionId }) => sessionId)
    const place = this.router.place.value
    const at = place.screen === 'session' ? waiting.indexOf(place.id) : -1
    return waiting[(at + 1) % Math.max(1, waiting.length)]
  }
}

/** What the list says of a session, and what its conversation here says better. */
function knownBetter(row: SessionRow, open: OpenSession): SessionRow {
  const [question] = open.questions.value
  const title = open.talk.title.value ?? row.title
  const { requestId = '' } = question ?? {}
  const waiting = question && { requestId, title: question.toolCall.title ?? '', options: question.options }
  return { ...row, title, phase: open.phase.value, agent: open.agent.value || row.agent, waiting }
}
