/** The screen of a chat: the conversation, and below it the input line and the status of the session. */
import type { WriteStream } from 'node:tty'
import { type ScreenCursor, type Screen, TerminalScreen } from '../output/terminal/screen.ts'

/** The rows below the conversation. */
export interface Below {
  readonly rows: readonly string[]
  /** Among these rows; without one it stands behind the conversation. */
  readonly cursor: ScreenCursor | undefined
}

export class ChatScreen implements Screen {
  readonly moves = true
  readonly width: () => number
  readonly #terminal: TerminalScreen
  readonly #below: (height: number) => Below
  #live: readonly string[] = []
  /** The last row above the live rows is empty, and separates the next one. */
  #isApart = false
  #isDue = false
  #isClosed = false

  /** `below` is asked with each picture; it is given how many rows there are. */
  constructor(output: WriteStream, below: (height: number) => Below) {
    this.#terminal = new TerminalScreen(output)
    this.#below = below
    this.width = this.#terminal.width
  }

  draw(rows: readonly string[], live: readonly string[]): void {
    this.#live = live
    this.#show(rows)
  }

  /** Draws the rows below the conversation again. Of many changes at once only the last is drawn. */
  refresh(): void {
    if (this.#isDue) return
    this.#isDue = true
    queueMicrotask(() => {
      this.#isDue = false
      this.#show([])
    })
  }

  /** Draws everything again at the top. */
  clear(): void {
    this.#terminal.clear()
    this.#show([])
  }

  /** The program steps back, and what it has written last stays. */
  leave(rows: readonly string[]): void {
    this.#isClosed = true
    this.#terminal.draw(rows, [])
  }

  /** It is back, on a terminal that others have written to. */
  comeBack(): void {
    this.#isClosed = false
    this.#terminal.forget()
    this.#show([])
  }

  #show(rows: readonly string[]): void {
    if (this.#isClosed) return this.#terminal.draw(rows, [])
    const { height } = this.#terminal
    const below = this.#below(height)
    this.#isApart = (rows.at(-1) ?? (this.#isApart ? '' : ' ')) === ''
    const gap = this.#isApart && this.#live.length === 0 ? [] : ['']
    const above = [...this.#live.slice(-Math.max(1, height - below.rows.length - 1)), ...gap]
    const cursor = below.cursor && { ...below.cursor, row: above.length + below.cursor.row }
    this.#terminal.draw(rows, [...above, ...below.rows], cursor)
  }
}
