/** The terminal modes of a chat: single keys, unchanged pastes, notice of a new size. All of them are undone at the end. */
import type { ReadStream, WriteStream } from 'node:tty'
import { type Key, listenToKeys } from './keyboard.ts'
import { after } from './pace.ts'

/** Bracketed paste, and kitty's keyboard protocol for keys with modifiers; terminals without them ignore both. */
const ON = '\u001b[?2004h\u001b[>1u'
const OFF = '\u001b[<u\u001b[?2004l'

/** A process that still runs so long after its stop was asked for has not been stopped. */
const NOT_STOPPED_MS = 300

export interface Listening {
  pressed(key: Key): void
  /** It has another size, or something else has written to it. */
  resized(): void
}

export class TerminalModes {
  readonly #input: ReadStream
  readonly #output: WriteStream
  readonly #listening: Listening
  #stopKeys: (() => void) | undefined

  constructor(input: ReadStream, output: WriteStream, listening: Listening) {
    this.#input = input
    this.#output = output
    this.#listening = listening
  }

  get isOn(): boolean {
    return this.#stopKeys !== undefined
  }

  begin(): void {
    if (this.isOn) return
    this.#stopKeys = listenToKeys(this.#input, (key) => this.#listening.pressed(key))
    this.#output.write(ON)
    this.#output.on('resize', this.#resized)
    process.on('exit', this.#undo)
  }

  end(): void {
    if (!this.isOn) return
    this.#stopKeys?.()
    this.#stopKeys = undefined
    this.#output.off('resize', this.#resized)
    process.off('exit', this.#undo)
    this.#undo()
  }

  /**
   * Stops this process as Ctrl-Z does, until its shell brings it back. Where no shell could (`ssh -t host parley`, `setsid`) the
   * kernel discards the signal: then time passes here, and the chat begins again.
   */
  suspend(back: () => void): void {
    this.end()
    const again = (): void => {
      process.off('SIGCONT', again)
      stopWaiting()
      this.begin()
      back()
    }
    process.on('SIGCONT', again)
    process.kill(process.pid, 'SIGTSTP')
    const stopWaiting = after(NOT_STOPPED_MS, again)
  }

  readonly #resized = (): void => this.#listening.resized()

  /** A program that ends otherwise leaves no terminal behind that writes odd characters. */
  readonly #undo = (): void => {
    this.#output.write(OFF)
  }
}
