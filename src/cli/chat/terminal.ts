/** A chat with a person at a terminal: they write, they watch, they are asked; one of these has the keyboard at a time. */
import type { Client, Face } from '../../client/connect.ts'
import type { PermissionQuestion } from '../../client/questions.ts'
import type { Update } from '../../client/updates.ts'
import type { Config } from '../../config/schema.ts'
import { isParleyError, reasonOf } from '../../errors/parley-error.ts'
import { askOnKeys } from '../asking.ts'
import type { CommandInput } from '../command.ts'
import { OK } from '../exit.ts'
import type { Stops } from '../stops.ts'
import { paintOn } from '../surfaces.ts'
import { type Key, listenToKeys } from '../terminal/keyboard.ts'
import { type Screen, terminalScreen } from '../terminal/screen.ts'
import { graphemesOf } from '../terminal/text.ts'
import { nameWindow, windowTitles } from '../terminal/window.ts'
import { playTurn } from '../turn.ts'
import { View } from '../view/view.ts'
import { workWith } from '../working.ts'
import { type Opened, Updates, openChat } from './chat.ts'
import { greetingRows, promptsOf } from './greeting.ts'
import { PromptLine } from './prompt-line.ts'

export async function chatOnTerminal(config: Config, options: CommandInput['options']): Promise<number> {
  const restore = windowTitles(process.stdout)
  const chat = new TerminalChat(config)
  try {
    return await workWith(config, chat, ({ client, stops }) => chat.run({ client, stops }, options))
  } finally {
    restore()
  }
}

interface Company {
  readonly client: Client
  readonly stops: Stops
}

class TerminalChat implements Face {
  readonly #config: Config
  readonly #look: { readonly paint: ReturnType<typeof paintOn>; readonly width: () => number }
  readonly #screen: Screen
  readonly #view: View
  readonly #updates = new Updates()
  readonly #put: ReturnType<typeof askOnKeys>
  #company: Company | undefined
  #sessionId = ''
  #prompt: PromptLine | undefined
  /** Ends the reading of a prompt when a question needs the keyboard. */
  #reading: AbortController | undefined
  #asking: Promise<unknown> = Promise.resolve()
  /** Whoever is asked gets the keys; without them they are kept for the next prompt. */
  #asked: ((key: Key) => void) | undefined
  #stopKeys: (() => void) | undefined
  #typed = ''
  #greet: () => void = () => undefined
  /** Nothing is asked before people see where they are. */
  readonly #greeted = new Promise<void>((resolve) => (this.#greet = resolve))

  constructor(config: Config) {
    const terminal = terminalScreen(process.stdout)
    this.#config = config
    this.#screen = {
      ...terminal,
      // Nothing moves while a person writes: what is final goes above their line.
      draw: (rows, live) => {
        if (this.#reading === undefined) terminal.draw(rows, live)
        else if (rows.length > 0) this.#prompt?.above(rows)
      },
    }
    this.#look = { paint: paintOn(process.stdout, config), width: terminal.width }
    this.#view = new View({ screen: this.#screen, paint: this.#look.paint })
    this.#put = askOnKeys((pressed) => this.#lendKeys(pressed), this.#view)
  }

  updated({ update }: { readonly update: Update }): void {
    this.#updates.take(update)
  }

  /** A question takes the keyboard, also from a prompt that is being written. */
  ask(question: PermissionQuestion, withdrawn: AbortSignal): Promise<string | null> {
    const answer = this.#greeted.then(() => {
      this.#reading?.abort()
      if (this.#stopKeys === undefined) this.#cancelOnInterrupt()
      return this.#put(question, withdrawn)
    })
    this.#asking = Promise.allSettled([this.#asking, answer])
    return answer
  }

  async run(company: Company, options: CommandInput['options']): Promise<number> {
    this.#company = company
    const opened = await openChat(company.client, options)
    this.#sessionId = opened.sessionId
    this.#begin(opened)
    const { signal } = company.stops
    while (!signal.aborted) {
      await this.#asking
      const entered = await this.#read(signal)
      if (entered.kind === 'leave') break
      if (entered.kind === 'stopped') this.#typed = entered.text
      else if (entered.text.trim() !== '') await this.#turn(entered.text)
    }
    process.stdout.write('\n')
    return OK
  }

  #begin(opened: Omit<Opened, 'transcript'>): void {
    const transcript = this.#updates.goLive((update) => {
      this.#view.update(update)
      nameWindow(process.stdout, update)
    })
    this.#view.recall(transcript)
    this.#prompt = new PromptLine({
      input: process.stdin,
      output: process.stdout,
      prompt: this.#look.paint('user', '› '),
      history: promptsOf(transcript),
      commands: () => this.#view.transcript.commands.map(({ name }) => name),
    })
    const { kind: agent } = this.#config.agent
    this.#screen.draw(greetingRows({ ...opened, agent, transcript }, this.#look), [])
    this.#greet()
  }

  async #read(stop: AbortSignal) {
    const reading = new AbortController()
    const end = (): void => reading.abort()
    stop.addEventListener('abort', end)
    if (stop.aborted) end()
    this.#reading = reading
    const text = this.#typed
    this.#typed = ''
    try {
      return (await this.#prompt?.read(text, reading.signal)) ?? ({ kind: 'leave' } as const)
    } finally {
      this.#reading = undefined
      stop.removeEventListener('abort', end)
    }
  }

  async #turn(text: string): Promise<void> {
    const { client, stops } = this.#company ?? {}
    if (client === undefined || stops === undefined) return
    this.#cancelOnInterrupt()
    this.#stopKeys = this.#listen()
    try {
      await playTurn({ client, sessionId: this.#sessionId, view: this.#view }, text)
    } catch (error) {
      if (!isParleyError(error, 'PEER_REFUSED')) throw error
      this.#view.note('bad', reasonOf(error))
    } finally {
      this.#stopKeys()
      this.#stopKeys = undefined
      stops.onInterrupt(undefined)
      this.#view.gap()
    }
  }

  #cancelOnInterrupt(): void {
    this.#company?.stops.onInterrupt(() => this.#company?.client.cancel(this.#sessionId))
  }

  #lendKeys(pressed: (key: Key) => void): () => void {
    this.#asked = pressed
    const stop = this.#stopKeys === undefined ? this.#listen() : undefined
    return () => {
      this.#asked = undefined
      stop?.()
    }
  }

  #listen(): () => void {
    return listenToKeys(process.stdin, (key) => {
      if (key.ctrl && key.name === 'c') this.#company?.stops.interrupt()
      else if (this.#asked === undefined) this.#keep(key)
      else this.#asked(key)
    })
  }

  /** Typed ahead: shown dimly now, and on the next prompt. */
  #keep({ text, name }: Key): void {
    if (name === 'backspace') this.#typed = graphemesOf(this.#typed).slice(0, -1).join('')
    else this.#typed += text
    this.#view.showTyped(this.#typed)
  }
}
