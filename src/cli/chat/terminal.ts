/** A chat with a person at a terminal: they write, they watch, they are asked; one of these has the keyboard at a time. */
import type { AgentChoice } from '../../config/agent.ts'
import type { Suggested } from '../../client/answers.ts'
import type { Client } from '../../client/connect.ts'
import type { ConnectionEvent, Face } from '../../client/face.ts'
import type { Notice, TurnNotice } from '../../client/notices.ts'
import type { PermissionQuestion } from '../../client/questions.ts'
import type { ClientPages } from '../../client/serving.ts'
import type { Update } from '../../client/updates.ts'
import { isParleyError, reasonOf } from '../../errors/parley-error.ts'
import { askOnKeys } from '../asking.ts'
import type { CommandInput } from '../command.ts'
import { Company, companyNotices } from '../company.ts'
import { OK } from '../exit.ts'
import { pagesFor } from '../pages.ts'
import type { Reaching } from '../reach.ts'
import type { Stops } from '../stops.ts'
import { paintOn } from '../surfaces.ts'
import { oneLine } from '../terminal/text.ts'
import { nameWindow, windowTitles } from '../terminal/window.ts'
import { playTurn } from '../turn.ts'
import { View } from '../view/view.ts'
import { workWith } from '../working.ts'
import { type Beginning, type Opened, Updates, openChat, pastOf } from './chat.ts'
import { Desk } from './desk.ts'
import { greetingRows, promptsOf } from './greeting.ts'

type Options = CommandInput['options']

export async function chatOnTerminal(reaching: Reaching, options: Options, beginning?: Beginning): Promise<number> {
  const restore = windowTitles(process.stdout)
  const chat = new TerminalChat(reaching, beginning ?? 'go on')
  try {
    const face = { ...reaching, notices: companyNotices, pages: chat.pages }
    return await workWith(face, chat, (working) => chat.run(working, options))
  } finally {
    restore()
  }
}

interface Working {
  readonly client: Client
  readonly stops: Stops
}

class TerminalChat implements Face {
  readonly #reaching: Reaching
  readonly #beginning: Beginning
  readonly #desk: Desk
  readonly #view: View
  readonly #updates = new Updates()
  readonly #company = new Company()
  readonly #put: ReturnType<typeof askOnKeys>
  #working: Working | undefined
  #sessionId = ''
  /** The turn of our own prompt, while it waits or runs. */
  #own: { readonly text: string; queued: boolean; readonly withdraw: AbortController } | undefined
  /** Somebody else's turn is shown, and whether it was cancelled. */
  #watched: { cancelled: boolean } | undefined
  #connection = ''
  #asking: Promise<unknown> = Promise.resolve()
  #greet: () => void = () => undefined
  /** Nothing is asked or told before people see where they are. */
  readonly #greeted = new Promise<void>((resolve) => (this.#greet = resolve))
  #isGreeted = false
  #over = false

  constructor(reaching: Reaching, beginning: Beginning) {
    this.#reaching = reaching
    this.#beginning = beginning
    const paint = paintOn(process.stdout, reaching.config)
    this.#desk = new Desk(paint, {
      commands: () => this.#view.transcript.commands.map(({ name }) => name),
      suggest: (command, text) => this.#suggest(command, text),
      interrupt: () => this.#interruptOthers(),
      stop: () => this.#working?.stops.interrupt(),
      began: () => this.#view.refresh(),
      typed: (text) => this.#view.showTyped(text),
    })
    this.#view = new View({ screen: this.#desk.screen, paint })
    this.#put = askOnKeys((pressed) => this.#desk.lendKeys(pressed), this.#view)
  }

  /** Like any question, a page waits until people see where they are. */
  get pages(): ClientPages {
    return pagesFor({
      ask: (question, withdrawn) => this.ask(question, withdrawn),
      note: (style, text) => this.#view.note(style, text),
      environment: this.#reaching.config.environment,
    })
  }

  cancelling(): void {
    this.#view.cancelling()
  }

  updated({ update }: { readonly update: Update }): void {
    this.#updates.take(update)
  }

  noticed(notice: Notice): void {
    this.#company.take(notice)
    if (!this.#isGreeted) return
    if (notice.kind === 'turn') this.#turned(notice)
    else this.#showStatus()
  }

  connection(event: ConnectionEvent): void {
    this.#company.connection(event)
    if (!this.#isGreeted) return
    this.#connection = event.kind === 'reconnecting' ? 'Reconnecting …' : ''
    this.#showStatus()
    if (event.kind === 'stopped') this.#tell('dim', 'The server was stopped. Your next prompt starts it again.')
    if (event.kind === 'lost') this.#tell('bad', reasonOf(event.reason))
    if (event.kind === 'detached') this.#end(reasonOf(event.reason))
  }

  /** A question takes the keyboard, also from a prompt that is being written. */
  ask(question: PermissionQuestion, withdrawn: AbortSignal): Promise<string | null> {
    const answer = this.#greeted.then(() => {
      if (withdrawn.aborted) return null
      this.#desk.clear()
      if (this.#own === undefined) this.#cancelOnInterrupt()
      return this.#put(question, withdrawn)
    })
    this.#asking = Promise.allSettled([this.#asking, answer])
    return answer
  }

  async run(working: Working, options: Options): Promise<number> {
    this.#working = working
    const opened = await openChat(working.client, options, this.#beginning)
    this.#sessionId = opened.sessionId
    await this.#company.known(working.client)
    this.#begin(opened)
    const { signal } = working.stops
    while (!signal.aborted && !this.#over) {
      await this.#asking
      const entered = await this.#desk.read(signal)
      if (entered.kind === 'leave') break
      if (entered.kind === 'line' && entered.text.trim() !== '') await this.#turn(entered.text)
    }
    process.stdout.write('\n')
    return OK
  }

  #begin(opened: Opened): void {
    const past = this.#updates.goLive((update) => {
      this.#view.update(update)
      nameWindow(process.stdout, update)
    })
    const { busy } = this.#company
    const { before, current } = pastOf(past, busy)
    this.#view.recall(before)
    this.#desk.remember(promptsOf(before))
    const { agent, agentChosen } = this.#reaching.config
    // A session that goes on keeps the agent that it has.
    const chosen = opened.continued === undefined || agentChosen ? shownName(agent) : undefined
    const answers = this.#working?.client.modelOf(opened.sessionId) ?? chosen
    const greeting = { ...opened, agent: answers, transcript: before, whole: this.#beginning === 'join' }
    this.#desk.screen.draw(greetingRows(greeting, this.#desk.look), [])
    this.#isGreeted = true
    if (busy) this.#watch()
    for (const update of current) this.#view.update(update)
    this.#showStatus()
    this.#greet()
  }

  /** Whoever types goes on typing when there is nothing to suggest, or nobody to ask. */
  async #suggest(command: string, text: string): Promise<Suggested> {
    const nothing = { value: '', values: [] }
    return (await this.#working?.client.complete(this.#sessionId, command, text).catch(() => nothing)) ?? nothing
  }

  async #turn(text: string): Promise<void> {
    const { client, stops } = this.#working ?? {}
    if (client === undefined || stops === undefined) return
    const own = { text, queued: this.#company.busy, withdraw: new AbortController() }
    this.#own = own
    this.#watched = undefined
    this.#cancelOnInterrupt()
    this.#desk.keep()
    try {
      const turn = { client, sessionId: this.#sessionId, view: this.#view, withdrawn: own.withdraw.signal }
      await playTurn(turn, text)
    } catch (error) {
      if (!isParleyError(error)) throw error
      // That the server was stopped has been told already.
      if (error.code !== 'SERVER_STOPPED') this.#view.note('bad', reasonOf(error))
    } finally {
      this.#own = undefined
      this.#desk.release()
      stops.onInterrupt(undefined)
      this.#view.gap()
      if (this.#company.busy && !this.#company.mine) this.#watch()
    }
  }

  /** The turn stands otherwise than before; ours is shown by whoever plays it. */
  #turned({ mine, phase }: TurnNotice): void {
    const { busy, over } = this.#company
    if (over !== undefined) return this.#end('Somebody else closed or deleted this session.')
    const own = this.#own
    if (own !== undefined) {
      if (own.queued && mine && phase === 'working') this.#ownBegins(own)
    } else if (busy && this.#watched === undefined) this.#watch()
    else if (!busy && this.#watched !== undefined) this.#unwatch()
    if (phase === 'cancelling' && this.#watched !== undefined) this.#watched.cancelled = true
  }

  #ownBegins(own: { readonly text: string; queued: boolean }): void {
    own.queued = false
    this.#view.note('user', `› ${oneLine(own.text, this.#desk.look.width() - 2)}`)
  }

  #watch(): void {
    this.#watched = { cancelled: false }
    this.#view.begin()
  }

  #unwatch(): void {
    const cancelled = this.#watched?.cancelled === true
    this.#watched = undefined
    this.#view.end()
    if (cancelled) this.#view.note('dim', '(cancelled)')
    this.#view.gap()
  }

  #showStatus(): void {
    this.#view.showStatus([this.#connection, this.#company.summary()].filter((text) => text !== '').join(' · '))
  }

  /** Besides what is said in the conversation. */
  #tell(style: 'dim' | 'bad', text: string): void {
    if (this.#watched !== undefined) this.#unwatch()
    this.#view.note(style, text)
  }

  /** There is no session any more to chat in. */
  #end(reason: string): void {
    this.#tell('bad', reason)
    this.#over = true
    this.#desk.clear()
  }

  #cancelOnInterrupt(): void {
    this.#working?.stops.onInterrupt(() => {
      // What only waits is taken back, and what others wait for goes on.
      if (this.#own?.queued === true && !this.#company.mine) this.#own.withdraw.abort()
      else this.#working?.client.cancel(this.#sessionId)
    })
  }

  /** Ctrl-C while a prompt is written: stops the turn that is watched, if there is one. */
  #interruptOthers(): boolean {
    if (!this.#company.busy) return false
    this.#working?.client.cancel(this.#sessionId)
    return true
  }
}

/** Which one answers by itself is for the server to find out. */
function shownName(agent: AgentChoice): string | undefined {
  if (agent.kind === 'auto') return undefined
  return agent.kind === 'model' ? (agent.model ?? 'model') : agent.kind
}
