/** Runs the real binary in three terminals and kills its server with `kill -9`: what each terminal showed, and when. */
import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

export type Terminal = 'first' | 'second' | 'third'

/** Text that a terminal showed, in milliseconds from the beginning. */
export interface Shown {
  readonly at: number
  readonly terminal: Terminal
  readonly text: string
  /** Typed by a person rather than printed by a program. */
  readonly isTyped: boolean
}

const repository = fileURLToPath(new URL('../..', import.meta.url))
const binary = join(repository, 'bin/parley.mjs')
const tale = join(repository, 'examples/tale.jsonl')

/** How many sentences are heard before the server is killed. */
const SENTENCES = 4

export async function record(): Promise<readonly Shown[]> {
  const recorder = new Recorder()
  try {
    return await recorder.run()
  } finally {
    recorder.close()
  }
}

class Recorder {
  readonly #directory = mkdtempSync(join(tmpdir(), 'parley-recording-'))
  readonly #work = join(this.#directory, 'work')
  readonly #shown: Shown[] = []
  readonly #began = performance.now()

  constructor() {
    mkdirSync(this.#work)
  }

  async run(): Promise<readonly Shown[]> {
    this.#type('first', 'parley run --agent script:examples/tale.jsonl "Tell me a tale"')
    const first = this.#start('first', ['run', '--agent', `script:${tale}`, 'Tell me a tale'])
    await this.#heard('first', 'Sentence 2')
    const { sessionId } = JSON.parse(this.#read(['ls', '--json'])) as { readonly sessionId: string }
    const id = sessionId.slice(0, 8)
    this.#type('second', `parley attach ${id}`)
    const second = this.#start('second', ['attach', sessionId])
    await this.#heard('second', `Sentence ${SENTENCES}`)
    const { pid } = JSON.parse(this.#read(['status', '--json'])) as { readonly pid: number }
    this.#type('third', `kill -9 ${pid}    # the server`)
    process.kill(pid, 'SIGKILL')
    await once(first, 'close')
    await this.#heard('second', 'Interrupted')
    await sleep(600)
    this.#type('third', `parley show ${id}`)
    await once(this.#start('third', ['show', sessionId]), 'close')
    second.kill()
    return this.#shown
  }

  close(): void {
    this.#read(['stop'])
    rmSync(this.#directory, { recursive: true, force: true })
  }

  #type(terminal: Terminal, text: string): void {
    this.#shown.push({ at: performance.now() - this.#began, terminal, text: `$ ${text}\n`, isTyped: true })
  }

  #start(terminal: Terminal, args: readonly string[]): ChildProcessWithoutNullStreams {
    const child = spawn(process.execPath, [binary, ...args], { cwd: this.#work, env: this.#environment() })
    // A command that is given a pipe reads it to its end first.
    child.stdin.end()
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.#shown.push({ at: performance.now() - this.#began, terminal, text, isTyped: false })
      })
    }
    return child
  }

  /** Resolves once a terminal has shown these words. */
  async #heard(terminal: Terminal, words: string): Promise<void> {
    const text = () =>
      this.#shown
        .filter((shown) => shown.terminal === terminal)
        .map((shown) => shown.text)
        .join('')
    while (!text().includes(words)) await sleep(20)
  }

  #read(args: readonly string[]): string {
    return execFileSync(process.execPath, [binary, ...args], {
      cwd: this.#work,
      env: this.#environment(),
      encoding: 'utf8',
    })
  }

  #environment(): NodeJS.ProcessEnv {
    const own = { PARLEY_HOME: join(this.#directory, 'home'), XDG_CONFIG_HOME: join(this.#directory, 'config') }
    return { PATH: process.env['PATH'], HOME: this.#directory, NO_COLOR: '1', ...own }
  }
}
