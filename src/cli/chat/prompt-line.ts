/** The line on which a person writes: history, editing and completion are readline's; lines pasted at once are one prompt. */
import { type Interface, createInterface } from 'node:readline'
import type { ReadStream, WriteStream } from 'node:tty'
import type { Suggested } from '../../client/answers.ts'
import { after } from '../terminal/pace.ts'
import { heightOf, sameRows } from '../terminal/screen.ts'
import { clean, widthOf } from '../terminal/text.ts'

export interface PromptLineOptions {
  readonly input: ReadStream
  readonly output: WriteStream
  readonly prompt: string
  /** Newest first. */
  readonly history: readonly string[]
  /** What may follow a slash. */
  readonly commands: () => readonly string[]
  /** What the words behind a command could become. Never throws. */
  readonly suggest: (command: string, text: string) => Promise<Suggested>
  /** What Ctrl-C is for just now, if not for the line: false when there is nothing of the kind. */
  readonly interrupt: () => boolean
}

type Told = (error: null, found: [string[], string]) => void

export type Entered =
  | { readonly kind: 'line'; readonly text: string }
  /** Ctrl-D, or a second Ctrl-C. */
  | { readonly kind: 'leave' }
  /** Something else needs the keyboard; `text` is what was written so far. */
  | { readonly kind: 'stopped'; readonly text: string }

/** Lines that arrive this close together were pasted. Milliseconds. */
const PASTED = 15
const HINT = 'Press Ctrl-C again to leave, or Ctrl-D.'

export class PromptLine {
  readonly #options: PromptLineOptions
  #history: string[]
  #open: Interface | undefined
  /** The rows above the line that will be replaced. */
  #live: readonly string[] = []

  constructor(options: PromptLineOptions) {
    this.#options = options
    this.#history = [...options.history]
  }

  /** `text` stands there already: what was typed while nobody read. */
  read(text: string, stop: AbortSignal): Promise<Entered> {
    const { input, output, prompt } = this.#options
    const line = createInterface({
      input,
      output,
      prompt,
      terminal: true,
      history: this.#history,
      historySize: 500,
      removeHistoryDuplicates: true,
      completer: (typed: string, told: Told) =>
        void this.#complete(typed).then((found) => {
          // Meanwhile something else may have taken the keyboard.
          if (this.#open === line) told(null, found)
        }),
    })
    this.#open = line
    line.on('history', (history) => (this.#history = history))
    line.prompt()
    if (text !== '') line.write(text)
    return new Promise((resolve) => {
      const settle = (entered: Entered): void => {
        stop.removeEventListener('abort', stopped)
        this.#open = undefined
        // Closing says that the person left, which counts only if nothing was said before.
        resolve(entered)
        line.close()
      }
      const stopped = (): void => {
        const written = line.line
        this.#wipe(line)
        settle({ kind: 'stopped', text: written })
      }
      const leave = (): void => {
        this.#wipe(line)
        settle({ kind: 'leave' })
      }
      line.once('line', (entered) => this.#wipeAbove(entered))
      collectLines(line, (entered) => settle({ kind: 'line', text: entered }))
      this.#onInterrupts(line, leave)
      line.once('close', () => {
        if (this.#open === line) leave()
      })
      stop.addEventListener('abort', stopped)
      if (stop.aborted) stopped()
    })
  }

  /** Prints `rows` above the line that is being written, for good, and replaces the live ones there. */
  above(rows: readonly string[], live: readonly string[]): void {
    const line = this.#open
    if (line === undefined) return
    const { output } = this.#options
    const kept = live.slice(-Math.max(1, (output.rows || 24) - 4))
    if (rows.length === 0 && sameRows(kept, this.#live)) return
    this.#wipe(line)
    this.#live = kept
    // Readline goes up to where it believes the line to begin, and writes it again from there.
    output.write([...rows, ...kept].map((row) => `${row}\n`).join('') + '\n'.repeat(believedHeight(line)))
    line.prompt(true)
  }

  /** The line and the live rows are gone from the screen. */
  #wipe(line: Interface): void {
    this.#erase(line.getCursorPos().rows + this.#liveHeight())
  }

  /** A line that was entered stays; the live rows above it do not. */
  #wipeAbove(entered: string): void {
    if (this.#live.length === 0) return
    const { output, prompt } = this.#options
    const written = `${prompt}${entered}`
    this.#erase(Math.floor(widthOf(written) / (output.columns || 80)) + 1 + this.#liveHeight())
    output.write(`${written}\n`)
  }

  #liveHeight(): number {
    return heightOf(this.#live, this.#options.output.columns || 80)
  }

  #erase(up: number): void {
    this.#live = []
    this.#options.output.write(`\r${up > 0 ? `\u001b[${up}A` : ''}\u001b[J`)
  }

  #onInterrupts(line: Interface, leave: () => void): void {
    let hinted = false
    line.on('SIGINT', () => {
      if (this.#options.interrupt()) return
      const wasEmpty = line.line === ''
      if (wasEmpty && hinted) return leave()
      hinted = wasEmpty
      line.write(null, { ctrl: true, name: 'e' })
      line.write(null, { ctrl: true, name: 'u' })
      if (wasEmpty) this.above([HINT], this.#live)
    })
  }

  async #complete(typed: string): Promise<[string[], string]> {
    if (!typed.startsWith('/')) return [[], typed]
    const [, command, text] = /^\/(\S+)\s+(.*)$/su.exec(typed) ?? []
    if (command !== undefined && text !== undefined) {
      const { value, values } = await this.#options.suggest(command, text)
      return [values.map((one) => clean(one).replaceAll('\n', ' ')), value]
    }
    const fitting = this.#options.commands().filter((name) => `/${name}`.startsWith(typed))
    return [fitting.map((name) => `/${name} `), typed]
  }
}

/** How far readline will go up: after a paste that is less than the rows that the line has. */
function believedHeight(line: Interface): number {
  return (line as Interface & { readonly prevRows?: number }).prevRows ?? 0
}

function collectLines(line: Interface, entered: (text: string) => void): void {
  const lines: string[] = []
  line.on('line', (text) => {
    if (lines.push(text) > 1) return
    const wait = (): void => {
      // A paste that does not end with a newline leaves its end to be edited.
      if (line.line === '') entered(lines.join('\n'))
      else line.once('line', () => after(PASTED, wait))
    }
    after(PASTED, wait)
  })
}
