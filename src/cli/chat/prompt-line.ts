/** The line on which a person writes: history, editing and completion are readline's; lines pasted at once are one prompt. */
import { type Interface, createInterface } from 'node:readline'
import type { ReadStream, WriteStream } from 'node:tty'
import { after } from '../terminal/pace.ts'

export interface PromptLineOptions {
  readonly input: ReadStream
  readonly output: WriteStream
  readonly prompt: string
  /** Newest first. */
  readonly history: readonly string[]
  /** What may follow a slash. */
  readonly commands: () => readonly string[]
}

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
      completer: (typed: string) => this.#complete(typed),
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
      collectLines(line, (entered) => settle({ kind: 'line', text: entered }))
      onInterrupts(line, () => settle({ kind: 'leave' }))
      line.once('close', () => settle({ kind: 'leave' }))
      stop.addEventListener('abort', stopped)
      if (stop.aborted) stopped()
    })
  }

  /** Prints rows above the line that is being written. */
  above(rows: readonly string[]): void {
    const line = this.#open
    if (line !== undefined) this.#wipe(line)
    this.#options.output.write(rows.map((row) => `${row}\n`).join(''))
    line?.prompt(true)
  }

  #wipe(line: Interface): void {
    const { rows } = line.getCursorPos()
    this.#options.output.write(`\r${rows > 0 ? `\u001b[${rows}A` : ''}\u001b[J`)
  }

  #complete(typed: string): [string[], string] {
    if (!typed.startsWith('/')) return [[], typed]
    const fitting = this.#options.commands().filter((name) => `/${name}`.startsWith(typed))
    return [fitting.map((name) => `/${name} `), typed]
  }
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

function onInterrupts(line: Interface, leave: () => void): void {
  let hinted = false
  line.on('SIGINT', () => {
    const wasEmpty = line.line === ''
    if (wasEmpty && hinted) return leave()
    hinted = wasEmpty
    line.write(null, { ctrl: true, name: 'e' })
    line.write(null, { ctrl: true, name: 'u' })
    if (wasEmpty) {
      process.stdout.write(`\r\u001b[J${HINT}\n`)
      line.prompt()
    }
  })
}
