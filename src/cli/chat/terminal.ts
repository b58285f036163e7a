/** A chat with a user at a terminal: prompts, updates, permission requests, and other clients of the same session. */
import type { Client } from '../../client/client.ts'
import type { ConnectionEvent, ClientDelegate } from '../../client/client-delegate.ts'
import type { Notice } from '../../client/incoming/notices.ts'
import type { Update } from '../../client/incoming/updates.ts'
import { reasonOf } from '../../errors/parley-error.ts'
import type { CommandInput } from '../runtime/command.ts'
import { SessionPresence, companyNotices, connectionWords } from '../sessions/session-presence.ts'
import { OK } from '../runtime/exit-codes.ts'
import type { ConnectOptions } from '../connect/connect.ts'
import { paintOn } from '../output/terminal-io.ts'
import { nameWindow, windowTitles } from '../output/terminal/window.ts'
import { View } from '../output/view/view.ts'
import { type ConnectedCommand, workWith } from '../connect/with-client.ts'
import { type Beginning, type OpenedSession, Updates, openChat, pastOf } from './chat.ts'
import { ChatConversation } from './conversation.ts'
import { InputArea } from './input/input-area.ts'
import { farewellRow, greetingRows, promptsOf, shownAgentName } from './greeting.ts'
import { Comings } from './presence.ts'
import { ChatQuestions } from './questions.ts'
import { SlashCommands } from './slash-commands.ts'

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
    const face: ConnectOptions = {
      ...reaching,
      notices: companyNotices,
      places: true,
      pages: chat.questions.pages,
      forms: chat.questions.forms,
      doing,
    }
    return await workWith(face, chat, (working) => chat.run(working, options))
  } finally {
    restore()
  }
}

class TerminalChat implements ClientDelegate {
  readonly questions: ChatQuestions
  readonly ask: ClientDelegate['ask']
  readonly #reaching: ConnectOptions
  readonly #beginning: Beginning
  readonly #desk: InputArea
  readonly #view: View
  readonly #updates = new Updates()
  readonly #company = new SessionPresence()
  /** The conversation, once the greeting is on the screen. */
  #talk: ChatConversation | undefined
  #comings: Comings | undefined
  #greet: () => void = () => undefined
  /** Questions and updates wait until the beginning of the chat is shown. */
  readonly #greeted = new Promise<void>((resolve) => (this.#greet = resolve))

  constructor(reaching: ConnectOptions, beginning: Beginning) {
    this.#reaching = reaching
    this.#beginning = beginning
    const paint = paintOn(process.stdout, reaching.config)
    this.#desk = new InputArea(process.stdin, process.stdout, paint)
    this.#view = new View({ screen: this.#desk.screen, paint, chat: true })
    this.questions = new ChatQuestions({
      listen: this.#desk.lendKeys,
      view: this.#view,
      greeted: this.#greeted,
      environment: reaching.config.environment,
    })
    this.ask = (question, withdrawn) => this.questions.ask(question, withdrawn)
  }

  cancelling(): void {
    this.#view.cancelling()
  }

  updated({ update }: { readonly update: Update }): void {
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
    this.#desk.connection = connectionWords[event.kind] ?? ''
    if (event.kind === 'reconnecting') this.#comings?.unknown()
    if (event.kind === 'stopped') this.#tell('dim', 'The server was stopped. Your next prompt starts it again.')
    if (event.kind === 'lost') this.#tell('bad', reasonOf(event.reason))
    if (event.kind === 'detached') this.#end(reasonOf(event.reason))
    this.#desk.refresh()
  }

  async run(working: ConnectedCommand, options: Options): Promise<number> {
    const { client, stops } = working
    const left = this.#desk.open(stops)
    try {
      const opened = await openChat(client, options, this.#beginning)
      await this.#company.known(client)
      if (stops.signal.aborted) return OK
      this.#begin(client, opened)
      await left
      this.#talk?.left()
      this.#desk.close(this.#farewell(opened))
    } finally {
      this.#desk.close([])
    }
    return OK
  }

  #begin(client: Client, opened: OpenedSession): void {
    const { sessionId } = opened
    const talk = this.#conversation(client, sessionId)
    const past = this.#updates.goLive((update) => {
      talk.updated(update)
      nameWindow(process.stdout, update)
    })
    const { before, current } = pastOf(past, this.#company.busy)
    this.#view.recall(before)
    const answers = client.modelOf(sessionId) ?? shownAgentName(client.agentOf(sessionId) ?? '')
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
        doing: this.#company.doing,
        agent: answers,
        settings: client.settings(sessionId),
        usage: this.#updates.usage,
        others: this.#company.others,
        sessionId,
      }),
    })
    talk.join()
    for (const update of current) talk.updated(update)
    this.#greet()
  }

  #conversation(client: Client, sessionId: string): ChatConversation {
    return new ChatConversation({
      client,
      sessionId,
      view: this.#view,
      company: this.#company,
      giveBack: (text) => this.#desk.giveBack(text),
      changed: () => this.#desk.refresh(),
    })
  }

  #commands(client: Client, sessionId: string): SlashCommands {
    const choose: ChatQuestions['choose'] = (list) => this.questions.choose(list)
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

  #farewell({ sessionId }: OpenedSession): readonly string[] {
    if (this.#company.over !== undefined) return []
    const turn = this.#talk?.isBusy !== true ? 'none' : this.#reaching.embedded ? 'interrupted' : 'continues'
    return [farewellRow(sessionId, turn, this.#desk.look)]
  }
}

const NOTHING = { value: '', values: [] }
