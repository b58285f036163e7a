/** A session that this page has open: its conversation, its turn, its questions, its prompts. */
import { type Signal, signal } from '@preact/signals'
import type { Client } from '../../client/client.ts'
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
import type { UpdateParams } from '../../client/incoming/updates.ts'
import type { Setting } from '../../client/sessions/agent-settings.ts'
import type { FoundFiles } from '../../client/sessions/stored-sessions.ts'
import type { Takes } from '../composer/attachments.ts'
import { randomHexId } from '../../client/connection/over-web-socket.ts'
import { Draft } from '../composer/draft.ts'
import { Conversation, messageText } from '../thread/conversation.ts'
import { Folds } from '../thread/folds.ts'
import { History } from '../thread/history.ts'
import type { Inquiry } from './inquiries.ts'
import { OncePerFrame } from './frames.ts'
import { firstAnswer, sentenceOf } from './error-sentences.ts'
import { kept } from './kept.ts'
import { SentPrompts } from './sent-prompts.ts'

export interface Question extends PermissionQuestion {
  readonly key: string
  answer(optionId: string): Promise<void>
}

type Opening = 'opening' | 'open' | { readonly failure: string }

export class OpenSession {
  readonly id: string
  /** Another one once the session is loaded anew. */
  readonly key = randomHexId()
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
  readonly draft: Draft
  /** What this page has sent. */
  readonly prompts: SentPrompts
  readonly showsOutline = signal(false)
  readonly agent = signal('')
  /** Since when the reader has asked the turn to stop. */
  readonly stopSince = signal<number | undefined>(undefined)
  readonly #client: Client
  /** Since this entry the server tells us all that comes. */
  #head: number | undefined
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
    this.draft = new Draft(sessionId)
    const changed = (): void => this.#frame.want()
    this.prompts = new SentPrompts({ client, sessionId, talk: this.talk, draft: this.draft, changed })
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
      // The turn may run since long before this page came.
      if (this.turnSince.value !== undefined)
        this.turnSince.value = this.talk.beganAt(Date.now()) ?? this.turnSince.value
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
          this.prompts.accept(promptId)
          if (this.prompts.steers(promptId)) this.promote(promptId)
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

  sendNew(text: string): void {
    void this.prompts.send({ text, attached: [], mentioned: [] })
  }

  sendDraft(): void {
    const said = this.draft.take()
    if (said !== undefined) void this.prompts.send(said)
  }

  /** Ends the turn for the draft: it goes before all prompts that wait. */
  steerDraft(): void {
    const said = this.draft.take()
    if (said !== undefined) void this.prompts.send(said, 'now')
  }

  /** What the agent takes besides text. */
  get takes(): Takes {
    return this.#client.can.prompt
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
    this.draft.rewrite(last && messageText(last))
  }

  /** Takes a prompt back: it is not sent, does not wait any longer, or its turn is cancelled. */
  withdraw(promptId: string): void {
    const isOurs = this.prompts.isOurs(promptId)
    this.prompts.withdraw(promptId)
    if (!isOurs) void this.#try(async () => void (await this.#client.withdraw(this.id, promptId)))
    this.queue.value = this.queue.value.filter((one) => one.promptId !== promptId)
  }

  /** Into the composer, before what is being written. */
  takeBack(promptId: string): void {
    const said = this.prompts.written(promptId)
    this.withdraw(promptId)
    if (said !== undefined) this.draft.giveBack(said, '')
  }

  /** Cancels the turn for a prompt that waits, which comes next. */
  promote(promptId: string): void {
    void this.#try(async () => void (await this.#client.promote(this.id, promptId, true)))
  }

  /** Stops the turn. Prompts of ours that wait come back into the composer: they should not start by themselves now. */
  stop(): void {
    for (const promptId of this.prompts.waiting) this.takeBack(promptId)
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
      this.draft.trouble.value = sentenceOf(error)
      return false
    }
  }

  #turned({ phase, promptId, turnId, mine: isMine }: TurnNotice): void {
    const runs = phase === 'working' || phase === 'waiting' || phase === 'cancelling' || phase === 'suspended'
    if (promptId !== undefined) this.prompts.accept(promptId)
    if (promptId !== undefined && turnId !== undefined && isMine) this.prompts.began(promptId, turnId)
    this.prompts.runs(runs && isMine ? promptId : undefined)
    if (!runs) {
      this.stopSince.value = undefined
      this.agentState.value = undefined
    }
    this.turnSince.value = runs ? (this.turnSince.value ?? Date.now()) : undefined
    this.phase.value = phase
    this.#frame.want()
  }

  /** False when it cannot be given, such as by this role. */
  #answer(question: PermissionQuestion & { readonly requestId: string }, optionId: string): Promise<boolean> {
    return this.#try(async () => {
      const answered = await this.#client.answer(this.id, question.requestId, optionId)
      if (!answered.counted) this.draft.trouble.value = firstAnswer(answered, question.options)
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
