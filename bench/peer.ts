/** A child under measurement: requests go in as lines; of what comes out only newlines are counted and answers recognised. */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'

const binary = fileURLToPath(new URL('../bin/parley.mjs', import.meta.url))

const NEWLINE = 0x0a
/** Long enough for the beginning of an answer to be found though a read cut it. */
const TAIL = 128

/** What was received up to an answer, and when. Times are milliseconds from the request on. */
export interface Answer {
  readonly text: string
  readonly ms: number
  /** Lines that came before the answer. */
  readonly updates: number
  readonly firstUpdateMs: number
}

export class Peer {
  readonly child: ChildProcessByStdio<Writable, Readable, null>
  #received: Buffer[] = []
  #onData: (() => void) | undefined
  #lastId = 0
  #gone = false

  constructor(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    this.child = spawn(process.execPath, args, {
      cwd: '/',
      env: { ...clean(), ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    this.child.stdout.on('data', (bytes: Buffer) => {
      this.#received.push(bytes)
      this.#onData?.()
    })
    this.child.on('close', () => {
      this.#gone = true
      this.#onData?.()
    })
    this.child.stdin.on('error', () => {
      // It was killed; whoever waits for it sees it close.
    })
  }

  /** Only one request at a time. Throws when it is refused. */
  async request(method: string, params: object): Promise<Answer> {
    this.#lastId += 1
    const marker = `{"jsonrpc":"2.0","id":${this.#lastId},`
    this.#received = []
    const start = performance.now()
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: this.#lastId, method, params })}\n`)
    const firstUpdateMs = await this.#until(() => this.#received.length > 0, start)
    const ms = await this.#until(() => this.#ends(marker), start)
    return this.#answer(marker, { ms, firstUpdateMs })
  }

  async initialize(): Promise<Answer> {
    return this.request('initialize', { protocolVersion: 1 })
  }

  async newSession(cwd: string, mcpServers: readonly object[] = []): Promise<string> {
    const { text } = await this.request('session/new', { cwd, mcpServers })
    return (JSON.parse(text) as { result: { sessionId: string } }).result.sessionId
  }

  prompt(sessionId: string): Promise<Answer> {
    return this.request('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'go' }] })
  }

  /** Resident memory, in bytes. */
  memory(): number {
    const [, kib = '0'] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${this.child.pid}/status`, 'utf8')) ?? []
    return Number(kib) * 1024
  }

  async close(): Promise<void> {
    this.child.stdin.end()
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, 'close')
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL')
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, 'close')
  }

  async #until(holds: () => boolean, start: number): Promise<number> {
    while (!holds()) {
      if (this.#gone) throw new Error('it ended before it had answered')
      await new Promise<void>((resolve) => (this.#onData = resolve))
    }
    return performance.now() - start
  }

  #ends(marker: string): boolean {
    const last = Buffer.concat(this.#received.slice(-2))
    if (last.at(-1) !== NEWLINE) return false
    return this.#received.length === 1 || last.subarray(-TAIL).includes(marker) || last.includes(`\n${marker}`)
      ? Buffer.concat(this.#received).includes(marker)
      : false
  }

  #answer(marker: string, times: { readonly ms: number; readonly firstUpdateMs: number }): Answer {
    const all = Buffer.concat(this.#received)
    const at = all.lastIndexOf(marker)
    const text = all.subarray(at, all.indexOf(NEWLINE, at)).toString()
    if (text.includes('"error"')) throw new Error(text)
    return { text, updates: linesIn(all.subarray(0, at)), ...times }
  }
}

function linesIn(bytes: Buffer): number {
  let lines = 0
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) lines += 1
  return lines
}

/** `parley acp --embedded` on a state directory. */
export function parley(home: string, script: string): Peer {
  const args = [binary, 'acp', '--embedded', '--agent', `script:${script}`]
  return new Peer(args, { PARLEY_HOME: home, XDG_CONFIG_HOME: join(home, 'config') })
}

/** The settings of whoever measures are not ours. */
function clean(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('PARLEY_')))
}
