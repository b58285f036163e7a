/** A session that this page has open: its conversation, its turn, its questions, and what the reader has not sent yet. */
import { type Signal, signal } from '@preact/signals'
import type { Client, PromptContent } from '../../client/client.ts'
import type { FoundFiles } from '../../client/sessions/stored-sessions.ts'
import type { Suggested } from '../../client/connection/responses.ts'
import type {
  AgentNotice,
  AliveNotice,
  McpNotice,
  Notice,
  Present,
  QueueNotice,
  SessionsNotice,
  TurnNotice,
} from '../../client/incoming/notices.ts'
import type { PermissionQuestion, Withdrawal } from '../../client/incoming/permission-requests.ts'
import type { PermissionOption, UpdateParams } from '../../client/incoming/updates.ts'
import type { Setting } from '../../client/sessions/agent-settings.ts'
import type { CountedAnswer } from '../../client/sessions/stored-sessions.ts'
import type { Attachment, Takes } from '../composer/attachments.ts'
import { type Mention, mentionedIn } from '../composer/mentions.ts'
import { words } from '../i18n/language.ts'
import { spelledOut } from '../markdown/invisible.ts'
import { Conversation } from '../thread/conversation.ts'
import { Folds } from '../thread/folds.ts'
import { History } from '../thread/history.ts'
import { textOf } from '../thread/rows.ts'
import type { Inquiry } from './inquiries.ts'
import { newId } from '../../client/connection/over-web-socket.ts'
import { OncePerFrame } from './frames.ts'
import { keep, kept, keptText } from './kept.ts'

export interface Question extends PermissionQuestion {
  readonly key: string
  answer(optionId: string): Promise<void>
}

/** What was written, and what goes with it. */
export interface Said {
  readonly text: string
  readonly attached: readonly Attachment[]
  readonly mentioned: readonly Mention[]
}

/** A prompt that is on its way: the server has not said yet that it has it. */
export interface Sending {
  readonly promptId: string
  readonly text: string
}

type Opening = 'opening' | 'open' | { readonly failure: string }

export class OpenSession {
  readonly id: string
  readonly cwd: string
  readonly talk = new Conversation()
  readonly folds: Folds
  readonly history: History
  readonly opening: Signal<Opening> = signal<Opening>('opening')
  /** `idle`, `working`, `cancelling`, `waiting`, `suspended`, `closed`, `deleted`. */
  readonly phase = signal('idle')
  readonly turnSince = signal<number | undefined>(undefined)
  readonly queue: Signal<QueueNotice['prompts']> = signal([])
  readonly present: Signal<readonly Present[]> = signal([])
  readonly servers: Signal<McpNotice['servers']> = signal([])
  readonly agentState: Signal<AgentNotice | undefined> = signal(undefined)
  readonly questions: Signal<readonly Question[]> = signal([])
  readonly inquiries: Signal<readonly Inquiry[]> = signal([])
  readonly settings: Signal<readonly Setting[]> = signal([])
  readonly sending: Signal<readonly Sending[]> = signal([])
  readonly draft: Signal<string>
  readonly attached: Signal<readonly Attachment[]> = signal([])
  readonly showsOutline = signal(false)
  /** Counts the wishes to write. */
  readonly wantsFocus = signal(0)
  /** A sentence at the composer: what could not be done, and why. */
  readonly trouble = signal('')
  readonly agent = signal('')
  /** Since when the reader has asked the turn to stop. */
  readonly stopSince = signal<number | undefined>(undefined)
  readonly #client: Client
  readonly #withdrawals = new Map<string, AbortController>()
  readonly #accepted = new Set<string>()
  /** Prompts that the turn ends for as soon as they wait. */
  readonly #steering = new Set<string>()
  /** Prompts of ours that are not in the conversation yet. */
  readonly #texts = new Map<string, Said>()
  /** Files that were chosen for an `@` of the draft, by their names. */
  readonly #mentioned = new Map<string, Mention>()
  /** Since this entry the server tells us all that comes. */
  #head: number | undefined
  #runningMine: string | undefined
  #asked = 0
  readonly #frame = new OncePerFrame(() => this.talk.flush())

  constructor(client: Client, { sessionId, cwd }: { readonly sessionId: string; readonly cwd: string }) {
    this.#client = client
    this.id = sessionId
    this.folds = new Folds(sessionId)
    this.history = new History({
      page: (before, limit) => client.page(sessionId, { before, limit }),
      prepend: (pages) =>
        this.talk.prepend({
          updates: pages.flatMap(({ updates }) => updates),
          resolved: pages.flatMap(({ resolved }) => resolved),
        }),
    })
    this.cwd = cwd
    this.draft = signal(keptText(`draft.${sessionId}`))
  }

  /** For a session that is open already: it was made here. */
  opened(): void {
    this.opening.value = 'open'
    this.settings.value = this.#client.settings(this.id)
    this.agent.value = this.#client.agentOf(this.id) ?? ''
  }

  /** The end of the conversation, and all from the entry `seq` or from where the reader was. */
  async load(seq = Number.POSITIVE_INFINITY): Promise<void> {
    this.opening.value = 'opening'
    try {
      // When only the first page has failed, what came since then is here already, and the pages still end where they did.
      this.#head ??= await this.#client.resumeSession({ sessionId: this.id, cwd: this.cwd })
      const { seq: place = seq } = (kept(`place.${this.id}`) ?? {}) as { readonly seq?: number }
      await this.history.begin(this.#head, Math.min(seq, place))
      this.talk.flush()
      this.opened()
    } catch (error) {
      this.opening.value = { failure: sentenceOf(error) }
    }
  }

  updated(params: UpdateParams): void {
    this.talk.take(params)
    const kind = params.update.sessionUpdate
    if (kind === 'config_option_update' || kind === 'current_mode_update')
      this.settings.value = this.#client.settings(this.id)
    this.#frame.want()
  }

  noticed(notice: Exclude<Notice, SessionsNotice | AliveNotice>): void {
    switch (notice.kind) {
      case 'turn':
        return this.#turned(notice)
      case 'queue':
        for (const { promptId } of notice.prompts) {
          this.#accept(promptId)
          if (this.#steering.delete(promptId)) this.promote(promptId)
        }
        this.queue.value = notice.prompts
        return
      case 'presence':
        this.present.value = notice.clients
        return
      case 'mcp':
        this.servers.value = notice.servers
        return
      case 'resolved':
        this.talk.resolved(notice.resolved)
        this.#frame.want()
        return
      case 'agent':
        this.agentState.value = notice.state === 'ready' ? undefined : notice
    }
  }

  ask(question: PermissionQuestion, withdrawn: AbortSignal): Promise<string | null> {
    return new Promise((resolve) => {
      this.#asked += 1
      const key = `q${this.#asked}`
      const remove = (): void => {
        this.questions.value = this.questions.value.filter((one) => one.key !== key)
      }
      let isGiven = false
      const answer = async (optionId: string): Promise<void> => {
        // A key that is held down, or pressed again before the server has counted it.
        if (isGiven) return
        isGiven = true
        const { requestId } = question
        // By its id it counts once, whatever becomes of this connection; the server then takes the question back.
        if (requestId !== undefined) {
          isGiven = await this.#answer({ ...question, requestId }, optionId)
          return
        }
        remove()
        resolve(optionId)
        this.#answered(question, optionId)
      }
      withdrawn.addEventListener('abort', () => {
        remove()
        resolve(null)
        if ((withdrawn.reason as Withdrawal) === 'elsewhere') this.#answered(question, undefined)
      })
      this.questions.value = [...this.questions.value, { ...question, key, answer }]
      this.talk.asked(question)
      this.#frame.want()
    })
  }

  write(text: string): void {
    this.draft.value = text
    keep(`draft.${this.id}`, text)
  }

  sendNew(text: string): void {
    void this.send({ text, attached: [], mentioned: [] }, newId())
  }

  get hasDraft(): boolean {
    return this.draft.value.trim() !== '' || this.attached.value.length > 0
  }

  sendDraft(promptId = newId()): void {
    if (!this.hasDraft) return
    const text = this.draft.value
    const said = { text, attached: this.attached.value, mentioned: mentionedIn(text, [...this.#mentioned.values()]) }
    if (sizeOf(said) > MAX_PROMPT) {
      this.trouble.value = words().attaching.together
      return
    }
    this.write('')
    this.attached.value = []
    this.#mentioned.clear()
    void this.send(said, promptId)
  }

  /** Ends the turn for the draft: it goes before all prompts that wait. */
  steerDraft(): void {
    const promptId = newId()
    this.#steering.add(promptId)
    this.sendDraft(promptId)
  }

  /** What the agent takes besides text. */
  get takes(): Takes {
    return this.#client.can.prompt
  }

  async attach(files: readonly File[]): Promise<void> {
    if (files.length === 0) return
    const { attach } = await import('../composer/attachments.ts')
    const made = await Promise.all(files.map((file) => attach(file, this.takes)))
    const refusals = made.flatMap((one) => ('refusal' in one ? [one.refusal] : []))
    this.trouble.value = refusals.join(' ')
    this.attached.value = [...this.attached.value, ...made.filter((one) => 'key' in one)]
  }

  detach(key: string): void {
    this.attached.value = this.attached.value.filter((one) => one.key !== key)
  }

  mention(file: Mention): void {
    this.#mentioned.set(file.name, file)
  }

  files(query: string, limit: number): Promise<FoundFiles> {
    return this.#client.files(this.id, query, limit)
  }

  complete(command: string, text: string): Promise<Suggested> {
    return this.#client.complete(this.id, command, text)
  }

  /** The last prompt goes back into the composer; nothing is sent by itself. */
  askAgain(): void {
    const prompts = this.talk.items.flatMap((item) => (item.kind === 'message' && item.role === 'user' ? [item] : []))
    const last = prompts.at(-1)
    if (last !== undefined) this.write(textOf(last))
    this.wantsFocus.value += 1
  }

  /** The text leaves the composer at once and stands above it until the server has it; if the server refuses it, it comes back. */
  async send(said: Said, promptId: string): Promise<void> {
    const { text } = said
    const withdrawn = new AbortController()
    this.#withdrawals.set(promptId, withdrawn)
    this.trouble.value = ''
    this.#texts.set(promptId, said)
    this.sending.value = [...this.sending.value, { promptId, text }]
    try {
      await this.#client.prompt(this.id, this.#contentOf(said), { promptId, withdrawn: withdrawn.signal })
      // A turn may be over before its beginning was sent.
      if (!withdrawn.signal.aborted) this.#said(promptId, this.talk.lastTurn)
    } catch (error) {
      if (this.#accepted.has(promptId)) this.#ended(error)
      else this.#giveBack(said, sentenceOf(error))
    } finally {
      this.#accept(promptId)
      this.#withdrawals.delete(promptId)
      this.#steering.delete(promptId)
      this.#texts.delete(promptId)
    }
  }

  /** Takes a prompt of ours back: it is not sent, does not wait any longer, or its turn is cancelled. */
  withdraw(promptId: string): void {
    const own = this.#withdrawals.get(promptId)
    own?.abort()
    // One of another device, or of this page before it was loaded again.
    if (own === undefined) void this.#try(async () => void (await this.#client.withdraw(this.id, promptId)))
    this.#accept(promptId)
    this.queue.value = this.queue.value.filter((one) => one.promptId !== promptId)
  }

  /** Into the composer, before what is being written. */
  takeBack(promptId: string): void {
    const said = this.#texts.get(promptId)
    this.withdraw(promptId)
    if (said !== undefined) this.#giveBack(said, '')
  }

  /** Cancels the turn for a prompt that waits, which comes next. */
  promote(promptId: string): void {
    void this.#try(async () => void (await this.#client.promote(this.id, promptId, true)))
  }

  isOurs(promptId: string): boolean {
    return this.#withdrawals.has(promptId)
  }

  /** Stops the turn. Prompts of ours that wait come back into the composer: they should not start by themselves now. */
  stop(): void {
    const waiting = [...this.#texts.keys()].filter((promptId) => promptId !== this.#runningMine)
    // Each goes before those that were sent after it.
    for (const promptId of waiting.toReversed()) this.takeBack(promptId)
    this.stopSince.value ??= Date.now()
    this.#client.cancel(this.id)
  }

  async force(): Promise<void> {
    await this.#try(async () => void (await this.#client.forceCancel(this.id)))
  }

  async set(id: string, value: string): Promise<void> {
    await this.#try(() => this.#client.set(this.id, id, value))
    this.settings.value = this.#client.settings(this.id)
  }

  cancelling(): void {
    this.talk.cancel()
    this.#frame.want()
  }

  async #try(work: () => Promise<void>): Promise<boolean> {
    try {
      await work()
      return true
    } catch (error) {
      this.trouble.value = sentenceOf(error)
      return false
    }
  }

  #turned({ phase, promptId, turnId, mine: isMine }: TurnNotice): void {
    const runs = phase === 'working' || phase === 'waiting' || phase === 'cancelling' || phase === 'suspended'
    if (promptId !== undefined) this.#accept(promptId)
    if (promptId !== undefined && turnId !== undefined && isMine) this.#said(promptId, turnId)
    this.#runningMine = runs && isMine ? promptId : undefined
    if (!runs) {
      this.stopSince.value = undefined
      this.agentState.value = undefined
    }
    this.turnSince.value = runs ? (this.turnSince.value ?? Date.now()) : undefined
    this.phase.value = phase
    this.#frame.want()
  }

  #said(promptId: string, turn: string | undefined): void {
    const said = this.#texts.get(promptId)
    if (said !== undefined && turn !== undefined) this.talk.said(this.#contentOf(said), turn)
    this.#texts.delete(promptId)
    this.#frame.want()
  }

  #accept(promptId: string): void {
    this.#accepted.add(promptId)
    this.sending.value = this.sending.value.filter((one) => one.promptId !== promptId)
  }

  /** Only the answer to a prompt tells its own client that the turn was cut, or has failed. */
  #ended(error: unknown): void {
    const isCut = codeOf(error) === 'TURN_INTERRUPTED'
    this.talk.ended(isCut ? sentenceOf(error) : `This turn failed: ${sentenceOf(error)}`)
    this.#frame.want()
  }

  /** The text, what goes with it, and the files that it names. */
  #contentOf({ text, attached, mentioned }: Said): readonly PromptContent[] {
    const links = mentioned.map(({ name, path }) => ({ type: 'resource_link', uri: fileUrl(path), name }))
    const said = text.trim() === '' ? [] : [{ type: 'text', text }]
    return [...said, ...attached.map(({ content }) => content), ...links]
  }

  #giveBack({ text, attached, mentioned }: Said, why: string): void {
    this.trouble.value = why
    for (const file of mentioned) this.mention(file)
    this.attached.value = [...attached, ...this.attached.value]
    this.write(this.draft.value === '' ? text : `${text}\n\n${this.draft.value}`)
  }

  /** False when it cannot be given, such as by this role. */
  #answer(question: PermissionQuestion & { readonly requestId: string }, optionId: string): Promise<boolean> {
    return this.#try(async () => {
      const answered = await this.#client.answer(this.id, question.requestId, optionId)
      if (!answered.counted) this.trouble.value = firstAnswer(answered, question.options)
      this.talk.answered(question, answered.outcome, answered.by)
      this.#frame.want()
    })
  }

  #answered(question: PermissionQuestion, optionId: string | undefined): void {
    const outcome = optionId === undefined ? { outcome: 'elsewhere' } : { outcome: 'selected', optionId }
    this.talk.answered(question, outcome)
    this.#frame.want()
  }
}

/** A message of the server is at most 16 MiB. */
const MAX_PROMPT = 15 * 1024 * 1024

function sizeOf({ text, attached }: Said): number {
  const parts = attached.map(({ content }) => (content.data ?? '').length + 3 * (content.resource?.text ?? '').length)
  return parts.reduce((sum, one) => sum + one, 3 * text.length)
}

function fileUrl(path: string): string {
  return `file://${path.split('/').map(encodeURIComponent).join('/')}`
}

/** Another client has answered before. */
export function firstAnswer({ outcome, by }: CountedAnswer, options: readonly PermissionOption[]): string {
  const { answeredFirst, answeredNone } = words()
  const name = options.find(({ optionId }) => optionId === outcome.optionId)?.name
  return answeredFirst(
    by === undefined ? undefined : spelledOut(by),
    name === undefined ? answeredNone : spelledOut(name),
  )
}

/** The code that the server gave an error. */
export function codeOf(error: unknown): unknown {
  return (error as { readonly details?: { readonly code?: unknown } }).details?.code
}

/** The sentence of an error; those of the server and of the client are made to be read. */
export function sentenceOf(error: unknown): string {
  const { details, message } = error as { readonly details?: { readonly reason?: unknown }; readonly message?: string }
  return typeof details?.reason === 'string' ? details.reason : (message ?? String(error))
}
