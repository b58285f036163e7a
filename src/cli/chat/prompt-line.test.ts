import { PassThrough } from 'node:stream'
import type { ReadStream, WriteStream } from 'node:tty'
import { describe, expect, test } from 'vitest'
import { type Entered, PromptLine, type PromptLineOptions } from './prompt-line.ts'

/** A terminal of 20 columns as a person sees it: what is written, on its rows. */
class Terminal {
  readonly output = Object.assign(new PassThrough(), { columns: 20, rows: 24, isTTY: true }) as unknown as WriteStream
  readonly input = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: () => undefined,
  }) as unknown as ReadStream
  #rows: string[][] = [[]]
  #row = 0
  #column = 0

  constructor() {
    this.output.on('data', (bytes: Buffer) => this.#show(bytes.toString()))
  }

  get shown(): readonly string[] {
    return this.#rows.map((row) => row.join('').trimEnd())
  }

  type(text: string): void {
    this.input.emit('data', Buffer.from(text))
  }

  #show(text: string): void {
    // oxlint-disable-next-line no-control-regex -- what a terminal obeys begins with one
    for (const [whole, csi] of text.matchAll(/\u001b\[([\d;?]*[A-Za-z])|[^]/gu)) {
      if (csi !== undefined) this.#obey(csi)
      else if (whole === '\n') this.#down()
      else if (whole === '\r') this.#column = 0
      else this.#put(whole)
    }
  }

  #obey(csi: string): void {
    const count = Number.parseInt(csi, 10) || 1
    if (csi.endsWith('A')) this.#row = Math.max(0, this.#row - count)
    if (csi.endsWith('C')) this.#column += count
    if (csi.endsWith('G')) this.#column = count - 1
    if (csi.endsWith('K')) this.#cells().splice(this.#column)
    if (!csi.endsWith('J')) return
    this.#cells().splice(this.#column)
    this.#rows.splice(this.#row + 1)
  }

  #put(char: string): void {
    if (this.#column === 20) {
      this.#column = 0
      this.#down()
    }
    this.#cells()[this.#column] = char
    this.#column += 1
  }

  #down(): void {
    this.#row += 1
    this.#rows[this.#row] ??= []
    this.#column = 0
  }

  #cells(): string[] {
    return (this.#rows[this.#row] ??= [])
  }
}

interface Stage {
  readonly terminal: Terminal
  readonly line: PromptLine
  readonly entered: Promise<Entered>
  readonly stop: AbortController
}

function open(interrupt: () => boolean = () => false): Stage {
  const terminal = new Terminal()
  const { input, output } = terminal
  const suggest: PromptLineOptions['suggest'] = async (command, text) =>
    command === 'review' && text === 'a.ts sr'
      ? { value: 'sr', values: ['src/main.ts'] }
      : { value: text, values: ['one', 'two'].filter((word) => word.startsWith(text)) }
  const commands = (): readonly string[] => ['review', 'revert']
  const line = new PromptLine({ input, output, prompt: '> ', history: [], commands, suggest, interrupt })
  const stop = new AbortController()
  return { terminal, line, stop, entered: line.read('', stop.signal) }
}

describe('Tab', () => {
  test.each([
    ['completes a command', '/revi\t', '/review '],
    ['completes the word behind a command, and keeps those before it', '/review a.ts sr\t', '/review a.ts src/main.ts'],
    ['leaves alone what could become several things', '/review \t', '/review '],
    ['leaves alone what is no command', 'words\t', 'words'],
  ])('%s', async (_name, typed, becomes) => {
    const { terminal, entered } = open()
    terminal.type(typed)
    await new Promise((resolve) => setImmediate(resolve))
    terminal.type('\r')
    expect(await entered).toEqual({ kind: 'line', text: becomes })
  })
})

describe('above the line that a person writes', () => {
  test('rows stay, live ones are replaced, and the line stands below as it was written', () => {
    const { terminal, line } = open()
    terminal.type('my own')
    line.above(['› theirs'], ['half a'])
    expect(terminal.shown).toEqual(['› theirs', 'half a', '> my own'])
    line.above([], ['half a sentence', 'also here: Zed'])
    expect(terminal.shown).toEqual(['› theirs', 'half a sentence', 'also here: Zed', '> my own'])
    line.above(['half a sentence.'], [])
    terminal.type(' words')
    expect(terminal.shown).toEqual(['› theirs', 'half a sentence.', '> my own words'])
  })

  test('a line that has grown over several rows loses none of them', () => {
    const { terminal, line } = open()
    terminal.type('a line that is longer than one row')
    line.above(['one'], ['two'])
    line.above(['three'], ['four'])
    expect(terminal.shown).toEqual(['one', 'three', 'four', '> a line that is lon', 'ger than one row'])
  })

  test('once it is entered, the live rows are gone and the line stays', async () => {
    const { terminal, line, entered } = open()
    line.above(['said'], ['live'])
    terminal.type('a line that is longer than one row\r')
    expect(await entered).toEqual({ kind: 'line', text: 'a line that is longer than one row' })
    expect(terminal.shown).toEqual(['said', '> a line that is lon', 'ger than one row', ''])
  })

  test('a question that takes the keyboard keeps what was written', async () => {
    const { terminal, line, stop, entered } = open()
    terminal.type('half')
    line.above([], ['live'])
    stop.abort()
    expect(await entered).toEqual({ kind: 'stopped', text: 'half' })
    expect(terminal.shown).toEqual([''])
  })
})

describe('Ctrl-C', () => {
  test('stops the turn that is watched, and leaves the line alone', () => {
    let stopped = 0
    const { terminal } = open(() => (stopped += 1) > 0)
    terminal.type('half\u0003')
    expect({ stopped, shown: terminal.shown }).toEqual({ stopped: 1, shown: ['> half'] })
  })

  test('clears the line, then hints, then leaves', async () => {
    const { terminal, entered } = open()
    terminal.type('half\u0003')
    expect(terminal.shown).toEqual(['>'])
    terminal.type('\u0003')
    expect(terminal.shown.join('')).toContain('Press Ctrl-C again')
    terminal.type('\u0003')
    expect(await entered).toEqual({ kind: 'leave' })
  })
})
