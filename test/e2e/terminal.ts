/** The real binary at a terminal: `script` of Linux gives it one (apt-get install bsdutils). */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { stripVTControlCharacters } from 'node:util'
import { expect, vi } from 'vitest'
import { PerTest } from '../fixtures/process/per-test.ts'
import { runs, until } from '../fixtures/process/running.ts'
import { Emulator } from '../fixtures/terminal/emulator.ts'
import { environmentOf } from './environment.ts'
import { binary } from './parley.ts'
import type { Place } from './server.ts'

const opened = new PerTest<Terminal>(async (terminals) => {
  for (const terminal of terminals) await terminal.close()
})

/** Call once in a test file, after `cleanUpServers`: whoever would start a server again goes first. */
export function cleanUpTerminals(): void {
  opened.closeAfterEach()
}

export class Terminal {
  readonly #child: ChildProcessWithoutNullStreams
  readonly #ended: Promise<unknown>
  readonly #emulator: Emulator
  #seen = ''

  /** With `exitFile` the exit code of the program is written there, for who hangs up. */
  constructor(args: readonly string[], place: Place & { readonly exitFile?: string }, columns = 80) {
    const { home, cwd, agent, exitFile } = place
    this.#emulator = new Emulator(columns)
    const command = [process.execPath, binary, ...args].map((word) => `'${word}'`).join(' ')
    const run = exitFile === undefined ? `exec ${command}` : `trap : HUP; ${command}; echo $? > '${exitFile}'`
    this.#child = spawn('script', ['-qec', `stty cols ${columns} rows 24; echo pid $$; ${run}`, '/dev/null'], {
      cwd,
      env: { ...environmentOf({ home, agent }), TERM: 'xterm' },
    })
    this.#child.stdin.on('error', () => {
      // It has ended, and what it said is read.
    })
    this.#child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.#emulator.write(text)
      this.#seen += stripVTControlCharacters(text)
    })
    this.#ended = once(this.#child, 'close')
    opened.add(this)
  }

  press(keys: string): void {
    this.#child.stdin.write(keys)
  }

  /** Closes the window. */
  hangUp(): void {
    this.#child.kill('SIGKILL')
  }

  /** What a person sees now, from the first row on. */
  get rows(): readonly string[] {
    return this.#emulator.rows
  }

  /** Resolves with the exit code when the program has ended. */
  async ended(): Promise<number | null> {
    await this.#ended
    return this.#child.exitCode
  }

  /** Resolves when the rows that a person sees are as they should be. */
  async shows(what: string, isThere: (rows: readonly string[]) => boolean): Promise<void> {
    const check = (): void => expect(isThere(this.rows), `${what} in\n${this.rows.slice(-30).join('\n')}`).toBe(true)
    await vi.waitFor(check, { timeout: 60_000, interval: 20 })
  }

  async until(text: string): Promise<void> {
    const check = (): void => expect(this.#seen.includes(text), `${text} in ${this.#seen.slice(-1_000)}`).toBe(true)
    await vi.waitFor(check, { timeout: 60_000, interval: 20 })
  }

  /** Presses again until it has worked: what is pressed too early for anybody to have read the question is ignored. */
  async pressUntil(keys: string, text: string): Promise<void> {
    const from = this.#seen.length
    const press = (): void => {
      this.press(keys)
      expect(this.#seen.slice(from)).toContain(text)
    }
    await vi.waitFor(press, { timeout: 60_000, interval: 200 })
  }

  /** Types it as the whole line, sees it there, and enters it. */
  async enter(line: string): Promise<void> {
    await this.pressUntil(`\u0015${line}`, `› ${line}`)
    this.press('\r')
  }

  async close(): Promise<void> {
    const pid = Number(/pid (\d+)/u.exec(this.#seen)?.[1] ?? 0)
    if (pid > 0 && runs(pid)) process.kill(pid, 'SIGKILL')
    this.#child.kill('SIGKILL')
    await this.#ended
    await until(() => pid === 0 || !runs(pid))
  }
}
