/** The conversation as a chat shows it: which turn is on the screen, and which prompts of ours wait for theirs. */
import type { PromptResult } from '../../client/connection/responses.ts'
import type { Client } from '../../client/client.ts'
import type { TurnNotice } from '../../client/incoming/notices.ts'
import { type Update, textIn } from '../../client/incoming/updates.ts'
import { roleOf } from '../../client/transcript/items.ts'
import { isParleyError, type ParleyError, reasonOf } from '../../errors/parley-error.ts'
import type { SessionPresence } from '../sessions/session-presence.ts'
import { newUuid } from '../output/terminal/pace.ts'
import { oneLine } from '../output/terminal/text.ts'
import type { View } from '../output/view/view.ts'

/** A prompt of ours that has no end yet. */
interface OwnPrompt {
  readonly id: string
  readonly text: string
  readonly withdraw: AbortController
  /** The user has taken the text back to edit it. */
  isTaken: boolean
  isOver: boolean
}

/** The turn on the screen: that of a prompt of ours, or of another client's. */
interface ShownTurn {
  readonly own: OwnPrompt | undefined
  promptId: string | undefined
  isCancelled: boolean
  /** The message of the user that it began with, and whether any message came since. */
  asked: unknown
  hasSpoken: boolean
}

export interface WaitingPrompt {
  readonly text: string
  readonly isMine: boolean
}

export interface ConversationMeans {
  readonly client: Client
  readonly sessionId: string
  readonly view: View
  readonly company: SessionPresence
  /** Brings a prompt that was not answered back to the line. */
  readonly giveBack: (text: string) => void
  /** Which prompts wait has changed. */
  readonly changed: () => void
}

export class ChatConversation {
  readonly #means: ConversationMeans
  #own: readonly OwnPrompt[] = []
  #shown: ShownTurn | undefined

  constructor(means: ConversationMeans) {
    this.#means = means
  }

  /** A turn runs, or waits for an answer. */
  get isBusy(): boolean {
    return this.#shown !== undefined || this.#means.company.busy
  }

  /** It was asked to end, and has not yet. */
  get isCancelling(): boolean {
    return this.#shown?.isCancelled === true
  }

  /** In the order in which they will run. */
  get waiting(): readonly WaitingPrompt[] {
    const mine = this.#queued()
    const queued = this.#means.company.queue.flatMap(({ promptId, mine: isMine, text }): readonly WaitingPrompt[] => {
      if (!isMine) return [{ text, isMine }]
      return mine.filter(({ id }) => id === promptId).map((own) => ({ text: own.text, isMine }))
    })
    const known = new Set(this.#means.company.queue.map(({ promptId }) => promptId))
    return [...queued, ...mine.filter(({ id }) => !known.has(id)).map(({ text }) => ({ text, isMine: true }))]
  }

  /** Sends a prompt. Its turn begins now, or after the prompts that run or wait. */
  submit(text: string): void {
    const own = { id: newUuid(), text, withdraw: new AbortController(), isTaken: false, isOver: false }
    const isFirst = !this.isBusy && this.#own.length === 0
    this.#own = [...this.#own, own]
    if (isFirst) this.#begin(own)
    else this.#means.changed()
    void this.#send(own)
  }

  /** The newest of ours that waits is withdrawn; its text, or undefined when none waits. */
  takeBack(): string | undefined {
    const own = this.#queued().at(-1)
    if (own === undefined) return undefined
    own.isTaken = true
    own.withdraw.abort()
    this.#means.changed()
    return own.text
  }

  /** Cancels the running turn; queued prompts of this chat stay in the queue. */
  cancel(): void {
    const { client, sessionId } = this.#means
    const shown = this.#shown
    if (shown !== undefined) shown.isCancelled = true
    if (shown?.own === undefined || this.#queued().length === 0) client.cancel(sessionId)
    else client.cancelOnly(sessionId, shown.own.withdraw)
  }

  /** An update of the turn on the screen, or of one that another client has begun. */
  updated(update: Update): void {
    const shown = this.#shown
    if (roleOf(update) !== 'user') {
      if (shown !== undefined && isOfTurn(update)) shown.hasSpoken = true
      return this.#means.view.update(update)
    }
    const own = this.#ownOf(update)
    if (own !== undefined) return own === shown?.own ? undefined : this.#begin(own)
    const isNext = shown?.hasSpoken === true && shown.asked !== update['messageId']
    if (isNext) this.#watch(undefined)
    if (this.#shown !== undefined) this.#shown.asked = update['messageId']
    this.#means.view.update(update)
  }

  /** Called with the phase of a turn, as the server reports it. */
  turned({ promptId, phase }: TurnNotice): void {
    if (!this.#means.company.busy) {
      if (this.#shown !== undefined && this.#shown.own === undefined) this.#endShown()
      return
    }
    const own = this.#own.find(({ id }) => id === promptId)
    if (own !== undefined) {
      if (this.#shown?.own !== own) this.#begin(own)
    } else if (this.#shown?.own !== undefined || this.#shown === undefined) this.#watch(promptId)
    else if (this.#shown.promptId === undefined) this.#shown.promptId = promptId
    else if (this.#shown.promptId !== promptId) this.#watch(promptId)
    if (phase === 'cancelling' && this.#shown !== undefined) this.#shown.isCancelled = true
  }

  /** Shows a turn of another client that runs when the chat begins. */
  join(): void {
    if (this.#means.company.busy) this.#watch(undefined)
  }

  /** The connection has ended, so the state of the other clients is removed. */
  lost(): void {
    if (this.#shown !== undefined && this.#shown.own === undefined) this.#endShown()
  }

  /** The user leaves: what becomes of the prompts that run and wait is shown to who comes back. */
  left(): void {
    for (const own of this.#own) own.isOver = true
  }

  async #send(own: OwnPrompt): Promise<void> {
    const { client, sessionId } = this.#means
    const ended = (result: PromptResult): void => this.#ended(own, result)
    try {
      ended(await client.prompt(sessionId, own.text, { withdrawn: own.withdraw.signal, promptId: own.id, ended }))
    } catch (error) {
      if (!isParleyError(error)) throw error
      this.#failed(own, error)
    }
  }

  #ended(own: OwnPrompt, { stopReason }: PromptResult): void {
    if (own.isOver) return
    this.#drop(own)
    if (this.#shown?.own === own) return this.#endOwn(stopReason)
    if (!own.isTaken) this.#means.giveBack(own.text)
    this.#means.changed()
  }

  #endOwn(stopReason: string): void {
    this.#endShown(stopReason)
    // A server that does not say how the turn stands begins the next one all the same.
    const [next] = this.#means.client.notices('turn') ? [] : this.#queued()
    if (next !== undefined) this.#begin(next)
  }

  /** The connection event already reports that the server was stopped. */
  #failed(own: OwnPrompt, error: ParleyError): void {
    if (own.isOver) return
    this.#drop(own)
    const { view, giveBack, changed } = this.#means
    const wasQueued = this.#shown?.own !== own
    if (!wasQueued) this.#endShown(undefined)
    // A queued prompt has no turn that could be interrupted.
    const isSaid = error.code === 'SERVER_STOPPED' || (wasQueued && error.code === 'TURN_INTERRUPTED')
    if (!isSaid) view.note('bad', reasonOf(error))
    if (wasQueued && !own.isTaken) {
      view.note('dim', `Not sent: your queued message “${oneLine(own.text, 40)}” is back in the input line.`)
      giveBack(own.text)
    }
    changed()
  }

  #drop(own: OwnPrompt): void {
    own.isOver = true
    this.#own = this.#own.filter((one) => one !== own)
  }

  #begin(own: OwnPrompt): void {
    this.#leave()
    this.#shown = { own, promptId: own.id, isCancelled: false, asked: undefined, hasSpoken: false }
    this.#means.view.begin()
    this.#means.view.prompt(own.text)
    this.#means.changed()
  }

  #watch(promptId: string | undefined): void {
    this.#leave()
    this.#shown = { own: undefined, promptId, isCancelled: false, asked: undefined, hasSpoken: false }
    this.#means.view.begin()
    this.#means.changed()
  }

  /** Another turn comes to the screen. One of ours that has not ended was taken for the next too early, and waits. */
  #leave(): void {
    if (this.#shown?.own !== undefined) this.#means.view.end()
    else if (this.#shown !== undefined) this.#endShown()
  }

  #endShown(stopReason?: string): void {
    const { view } = this.#means
    const shown = this.#shown
    this.#shown = undefined
    view.end(shown?.own === undefined && shown?.isCancelled === true ? 'cancelled' : stopReason)
    view.gap()
    this.#means.changed()
  }

  /** Those of ours that the server has not begun. */
  #queued(): readonly OwnPrompt[] {
    return this.#own.filter((own) => own !== this.#shown?.own && !own.isTaken)
  }

  /** After a reconnection the server sends prompts of this chat again; they are recognized by their text. */
  #ownOf(update: Update): OwnPrompt | undefined {
    const text = textIn(update)
    const isBegun = this.#shown?.own?.text === text && !this.#shown.hasSpoken
    return isBegun ? this.#shown?.own : this.#queued().find((own) => own.text === text)
  }
}

/** Whether the update is part of an agent's turn, and not the state of the session. */
function isOfTurn(update: Update): boolean {
  return roleOf(update) !== undefined || update.sessionUpdate.startsWith('tool_call') || update.sessionUpdate === 'plan'
}
