/** The one keyboard and the one screen of a chat: a prompt is written, or keys are kept for the next one, or lent to a question. */
import type { Suggested } from '../../client/answers.ts'
import type { Paint } from '../terminal/colors.ts'
import { type Key, listenToKeys } from '../terminal/keyboard.ts'
import { type Screen, terminalScreen } from '../terminal/screen.ts'
import { graphemesOf } from '../terminal/text.ts'
import type { Look } from '../view/rows.ts'
import { type Entered, PromptLine } from './prompt-line.ts'

export interface DeskHost {
  /** What may follow a slash. */
  commands(): readonly string[]
  /** What the words behind a command could become. Never throws. */
  suggest(command: string, text: string): Promise<Suggested>
  /** Ctrl-C while a prompt is written; false when it is meant for the line. */
  interrupt(): boolean
  /** Ctrl-C while keys are kept or lent. */
  stop(): void
  /** The line stands there: what is live has a new place. */
  began(): void
  /** What was typed for the next prompt has changed. */
  typed(text: string): void
}

export class Desk {
  readonly screen: Screen
  readonly look: Look
  readonly #paint: Paint
  readonly #host: DeskHost
  #prompt: PromptLine | undefined
  /** Ends the reading of a prompt when something else needs the keyboard. */
  #reading: AbortController | undefined
  /** Whoever is asked gets the keys; without them they are kept for the next prompt. */
  #asked: ((key: Key) => void) | undefined
  #stopKeys: (() => void) | undefined
  #typed = ''

  constructor(paint: Paint, host: DeskHost) {
    const terminal = terminalScreen(process.stdout)
    this.#paint = paint
    this.#host = host
    this.look = { paint, width: terminal.width }
    this.screen = {
      ...terminal,
      // While a person writes, everything happens above their line.
      draw: (rows, live) => {
        if (this.#reading === undefined) terminal.draw(rows, live)
        else this.#prompt?.above(rows, live)
      },
    }
  }

  /** `history` are earlier prompts, newest first. */
  remember(history: readonly string[]): void {
    this.#prompt = new PromptLine({
      input: process.stdin,
      output: process.stdout,
      prompt: this.#paint('user', '› '),
      history,
      commands: () => this.#host.commands(),
      suggest: (command, text) => this.#host.suggest(command, text),
      interrupt: () => this.#host.interrupt(),
    })
  }

  async read(stop: AbortSignal): Promise<Entered> {
    const reading = new AbortController()
    const end = (): void => reading.abort()
    stop.addEventListener('abort', end)
    if (stop.aborted) end()
    // What is live moves above the line.
    this.screen.draw([], [])
    this.#reading = reading
    const text = this.#typed
    this.#typed = ''
    try {
      const reads = this.#prompt?.read(text, reading.signal)
      this.#host.began()
      const entered = (await reads) ?? ({ kind: 'leave' } as const)
      if (entered.kind === 'stopped') this.#typed = entered.text
      return entered
    } finally {
      this.#reading = undefined
      stop.removeEventListener('abort', end)
    }
  }

  /** Nobody writes any more: what was written waits for the next time. */
  clear(): void {
    this.#reading?.abort()
  }

  /** Keeps what is typed for the next prompt, until `release`. */
  keep(): void {
    this.#stopKeys ??= this.#listen()
  }

  release(): void {
    this.#stopKeys?.()
    this.#stopKeys = undefined
  }

  lendKeys(pressed: (key: Key) => void): () => void {
    this.#asked = pressed
    const stop = this.#stopKeys === undefined ? this.#listen() : undefined
    return () => {
      this.#asked = undefined
      stop?.()
    }
  }

  #listen(): () => void {
    return listenToKeys(process.stdin, (key) => {
      if (key.ctrl && key.name === 'c') this.#host.stop()
      else if (this.#asked === undefined) this.#keepKey(key)
      else this.#asked(key)
    })
  }

  /** Typed ahead: shown dimly now, and on the next prompt. */
  #keepKey({ text, name }: Key): void {
    if (name === 'backspace') this.#typed = graphemesOf(this.#typed).slice(0, -1).join('')
    else this.#typed += text
    this.#host.typed(this.#typed)
  }
}
