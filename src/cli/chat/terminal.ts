/** A chat with a user at a terminal: prompts, updates, permission requests, and other clients of the same session. */
import type { Client } from '../../client/client.ts'
import type { ConnectionEvent, ClientDelegate } from '../../client/client-delegate.ts'
import type { Notice } from '../../client/incoming/notices.ts'
import type { PermissionQuestion } from '../../client/incoming/permission-requests.ts'
import type { ClientForms, ClientPages } from '../../client/incoming/client-methods.ts'
import type { Update } from '../../client/incoming/updates.ts'
import { reasonOf } from '../../errors/parley-error.ts'
import { askOnKeys, oneByOne } from '../prompts/permission-prompt.ts'
import type { CommandInput } from '../runtime/command.ts'
import { SessionPresence, companyNotices } from '../sessions/session-presence.ts'
import { OK } from '../runtime/exit-codes.ts'
import { formsOnKeys } from '../prompts/form/ask.ts'
import { shortId } from '../sessions/session-resolution.ts'
import { pagesFor } from '../prompts/visit-page.ts'
import type { ConnectOptions } from '../connect/connect.ts'
import { paintOn } from '../output/terminal-io.ts'
import { oneLine } from '../output/terminal/text.ts'
import { nameWindow, windowTitles } from '../output/terminal/window.ts'
import { View } from '../output/view/view.ts'
import { type Working, workWith } from '../connect/with-client.ts'
import { type Beginning, type Opened, Updates, openChat, pastOf } from './chat.ts'
import { choosingOnKeys } from './choosing.ts'
import { Conversation } from './conversation.ts'
import { InputArea } from './input/input-area.ts'
import { greetingRows, promptsOf } from './greeting.ts'
import { Comings } from './presence.ts'
import { SlashCommands } from './slash-commands.ts'
import { type Usage, usageIn } from './status-line.ts'

type Options = CommandInput['options']

export async function chatOnTerminal(
  reaching: ConnectOptions,
  options: Options,
  beginning?: Beginning,
): Promise<number> {
  const restore = windowTitles(process.stdout)
  const chat = new TerminalChat(reaching, beginning ?? 'resume')
  const doing = beginning === 'join' ? 'attach' : 'chat'
  try {
    const face: ConnectOptions = { ...reaching, notices: companyNotices, pages: chat.pages, forms: chat.forms, doing }
    return await workWith(face, chat, (working) => chat.run(working, options))
  } finally {
    restore()
  }
}

class TerminalChat implements ClientDelegate {
  readonly #reaching: ConnectOptions
  readonly #beginning: Beginning
  readonly #desk: InputArea
  readonly #view: View
  readonly #updates = new Updates()
  readonly #company = new SessionPresence()
  readonly #inTurn = oneByOne()
  /** The conversation, once the greeting is on the screen. */
  #talk: Conversation | undefined
  #comings: Comings | undefined
  #usage: Usage | undefined
  #greet: () => void = () => undefined
  /** Questions and updates wait until the beginning of the chat is shown. */
  readonly #greeted = new Promise<void>((resolve) => (this.#greet = resolve))

  constructor(reaching: ConnectOptions, beginning: Beginning) {
    this.#reaching = reaching
    this.#beginning = beginning
    const paint = paintOn(process.stdout, reaching.config)
    this.#desk = new InputArea(process.stdin, process.stdout, paint)
    this.#view = new View({ screen: this.#desk.screen, paint, chat: true })
  }

  /** Like any question, a page waits until the greeting is on the screen. */
  get pages(): ClientPages {
    return pagesFor({
      ask: (question, withdrawn) => this.ask(question, withdrawn),
      note: (style, text) => this.#view.note(style, text),
      environment: this.#reaching.config.environment,
    })
  }

  get forms(): ClientForms {
    const forms = formsOnKeys({ listen: this.#desk.lendKeys, view: this.#view, inTurn: this.#inTurn })
    return { ask: (form, withdrawn) => this.#greeted.then(() => forms.ask(form, withdrawn)) }
  }

  cancelling(): void {
    this.#view.cancelling()
  }

  updated({ update }: { readonly update: Update }): void {
    this.#usage = usageIn(update) ?? this.#usage
    this.#updates.take(update)
  }

  noticed(notice: Notice): void {
    this.#company.take(notice)
    const { over } = this.#company
    if (this.#talk === undefined) return
    if (over !== undefined) return this.#end('Another client closed or deleted this session.')
    if (notice.kind === 'turn') this.#talk.turned(notice)
    if (notice.kind === 'presence') this.#comings?.are(this.#company.others)
    this.#desk.refresh()
  }

  connection(event: ConnectionEvent): void {
    this.#company.connection(event)
    if (this.#talk === undefined) return
    this.#desk.connection = event.kind === 'reconnecting' ? 'Reconnecting …' : ''
    if (event.kind === 'reconnecting') this.#comings?.unknown()
    if (event.kind === 'stopped') this.#tell('dim', 'The server was stopped. Your next prompt starts it again.')
    if (event.kind === 'lost') this.#tell('bad', reasonOf(event.reason))
    if (event.kind === 'detached') this.#end(reasonOf(event.reason))
    this.#desk.refresh()
  }

  /** A question takes the keyboard; the text that the user was typing stays for later. */
  async ask(question: PermissionQuestion, withdrawn: AbortSignal): Promise<string | null> {
    await this.#greeted
    return withdrawn.aborted ? null : askOnKeys(this.#desk.lendKeys, this.#view, this.#inTurn)(question, withdrawn)
  }

  async run(working: Working, options: Options): Promise<number> {
    const { client, stops } = working
    const left = this.#desk.open(stops)
    try {
      const opened = await openChat(client, options, this.#beginning)
      await this.#company.known(client)
      if (stops.signal.aborted) return OK
      this.#begin(client, opened)
      await left
      this.#desk.close(this.#farewell(opened))
    } finally {
      this.#desk.close([])
    }
    return OK
  }

  #begin(client: Client, opened: Opened): void {
    const { sessionId } = opened
    const talk = this.#conversation(client, sessionId)
    const past = this.#updates.goLive((update) => {
      talk.updated(update)
      nameWindow(process.stdout, update)
    })
    const { before, current } = pastOf(past, this.#company.busy)
    this.#view.recall(before)
    const answers = client.modelOf(sessionId) ?? shownName(client.agentOf(sessionId) ?? '')
    const greeting = { ...opened, agent: answers, transcript: before, whole: this.#beginning === 'join' }
    this.#desk.screen.draw(greetingRows(greeting, this.#desk.look), [])
    this.#talk = talk
    this.#comings = new Comings(this.#company.others, (line) => this.#desk.flash(line))
    this.#desk.begin({
      talk,
      view: this.#view,
      commands: this.#commands(client, sessionId),
      history: promptsOf(before),
      suggest: (command, text) => client.complete(sessionId, command, text).catch(() => NOTHING),
      standing: () => ({
        agent: answers,
        settings: client.settings(sessionId),
        usage: this.#usage,
        others: this.#company.others,
        session: shortId(sessionId),
      }),
    })
    talk.join()
    for (const update of current) talk.updated(update)
    this.#greet()
  }

  #conversation(client: Client, sessionId: string): Conversation {
    return new Conversation({
      client,
      sessionId,
      view: this.#view,
      company: this.#company,
      giveBack: (text) => this.#desk.giveBack(text),
      changed: () => this.#desk.refresh(),
    })
  }

  #commands(client: Client, sessionId: string): SlashCommands {
    const choose = choosingOnKeys(this.#desk.lendKeys, this.#view, this.#inTurn)
    return new SlashCommands({ client, sessionId, view: this.#view, choose, leave: () => this.#desk.leave() })
  }

  /** Shows a line outside of the conversation. */
  #tell(style: 'dim' | 'bad', text: string): void {
    this.#talk?.lost()
    this.#view.note(style, text)
  }

  /** There is no session any more to chat in. */
  #end(reason: string): void {
    this.#tell('bad', reason)
    this.#desk.leave()
  }

  #farewell({ sessionId }: Opened): readonly string[] {
    if (this.#company.over !== undefined) return []
    const { paint } = this.#desk.look
    const id = shortId(sessionId)
    const turn =
      this.#talk?.isBusy !== true ? '' : this.#reaching.embedded ? 'Its turn is interrupted. ' : 'Its turn continues. '
    return [paint('dim', `${turn}Return with: parley attach ${id}`)]
  }
}

const NOTHING = { value: '', values: [] }

/** Where a model answers, its settings say which; left to the server, without one, it is the guide. */
function shownName(agent: string): string | undefined {
  if (agent === '') return undefined
  return agent === 'auto' ? 'guide' : oneLine(agent.replace(/:.*$/su, ''), 32)
}
