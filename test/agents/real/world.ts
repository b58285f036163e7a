/** One real agent behind the real binary: its home, its scripted model, and the clients of its server. */
import { execFile, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cleanEnvironment } from '../../e2e/environment.ts'
import type { Message } from '../../e2e/message.ts'
import { binary, initialize } from '../../e2e/parley.ts'
import { RawClient } from '../../e2e/raw-client.ts'
import { carrying, serverOf, signal, until } from '../../fixtures/process/running.ts'
import { type ModelServer, startModelServer } from '../../model-server/server.ts'
import { answerTo } from './scripted.ts'
import { type Setup, setUp } from './setups.ts'

const RECORDER = fileURLToPath(new URL('frames.cjs', import.meta.url))

/** A line of `frames.cjs`. */
interface Recorded {
  readonly to?: Message
  readonly from?: Message
  readonly start?: { readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> }
}

export interface AgentStart {
  readonly line: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** A command of Parley that goes on, such as `parley attach`. */
export interface Terminal {
  /** All that it has printed. */
  readonly text: string
  heard: (text: string) => void
}

export class World {
  readonly setup: Setup
  readonly model: ModelServer
  readonly cwd: string
  readonly #home: string
  readonly #state: string
  readonly #frames: string
  /** Only what this world has started carries it: `PARLEY_HOME` may be set in the user's own shell. */
  readonly #mark: string
  readonly #env: Readonly<Record<string, string>>
  readonly #clients: RawClient[] = []

  private constructor(setup: Setup, model: ModelServer, directory: string) {
    this.setup = setup
    this.model = model
    this.#state = join(directory, 'state')
    this.#home = join(directory, setup.name, 'home')
    this.cwd = join(directory, setup.name, 'work')
    rmSync(join(directory, setup.name), { recursive: true, force: true })
    mkdirSync(this.cwd, { recursive: true })
    this.#frames = join(directory, `${setup.name}-frames.jsonl`)
    rmSync(this.#frames, { force: true })
    this.#mark = `REAL_AGENTS_FRAMES=${this.#frames}`
    const recording = { NODE_OPTIONS: `--require=${RECORDER}`, REAL_AGENTS_FRAMES: this.#frames }
    this.#env = {
      ...cleanEnvironment(),
      PARLEY_HOME: this.#state,
      ...setUp(setup, model.url, this.#home),
      ...recording,
    }
  }

  static async open(setup: Setup, directory: string): Promise<World> {
    return new World(setup, await startModelServer(answerTo), directory)
  }

  /** An editor: `parley acp` with the agent. */
  async client(): Promise<RawClient> {
    const args = [binary, 'acp', '--agent', this.setup.name]
    const client = new RawClient(spawn(process.execPath, args, { cwd: '/', env: this.#env }))
    this.#clients.push(client)
    await initialize(client)
    return client
  }

  terminal(...args: readonly string[]): Terminal {
    const child = spawn(process.execPath, [binary, ...args], { cwd: this.cwd, env: this.#env })
    const terminal = { text: '', heard: (_text: string): void => undefined }
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      terminal.text += text
      terminal.heard(text)
    })
    return terminal
  }

  async killServer(): Promise<void> {
    const pid = serverOf({ home: this.#state })
    if (pid === undefined) throw new Error('no server runs')
    signal(pid, 'SIGKILL')
  }

  /** Every process of the agent, whoever started it. */
  get agentProcesses(): readonly number[] {
    const ours = new Set(carrying(this.#mark))
    return carrying(`HOME=${this.#home}`).filter((pid) => !ours.has(pid))
  }

  killAgent(): number {
    const pids = this.agentProcesses
    for (const pid of pids) signal(pid, 'SIGKILL')
    return pids.length
  }

  /** What the model was last asked about a prompt, with all that the agent still knew. */
  lastAsked(word: string): string {
    const turns = this.model.requests.filter(({ tools }) => tools.length > 0)
    const asked = turns.findLast(({ body }) => JSON.stringify(body).includes(word))
    return JSON.stringify(asked?.body ?? {})
  }

  timesAsked(word: string): number {
    const turns = this.model.requests.filter(({ tools }) => tools.length > 0)
    return turns.filter(({ messages }) => messages.findLast(({ role }) => role === 'user')?.text.includes(word)).length
  }

  /** The last text of each prompt that Parley wrote to the agent, from all lives of the server. */
  get promptsWritten(): readonly string[] {
    const prompts = this.#recorded.flatMap(({ to }) => (to?.method === 'session/prompt' ? [to.params?.['prompt']] : []))
    return prompts.map((prompt) => (prompt as readonly { readonly text?: string }[]).at(-1)?.text ?? '')
  }

  /** How Parley has started the agent: the program, its arguments and its whole environment. */
  get start(): AgentStart {
    const start = this.#recorded.find((one) => one.start !== undefined)?.start
    if (start === undefined) throw new Error('Parley has not started the agent')
    // Past the shell that tells the guard of it.
    const line = start.args.slice(start.args.indexOf('sh') + 1)
    const { PARLEY_CHILD: _marker, ...env } = start.env
    return { line, env }
  }

  /** The agent as Parley starts it, with nothing between, or only what the words before its command line start. */
  async alone(...before: readonly string[]): Promise<RawClient> {
    const { line, env } = this.start
    const [command = '', ...args] = [...before, ...line]
    const client = new RawClient(spawn(command, args, { cwd: this.cwd, env, detached: true }))
    this.#clients.push(client)
    const params = { protocolVersion: 1, clientCapabilities: {}, clientInfo: { name: 'somebody', version: '1.0.0' } }
    await client.request('initialize', params)
    return client
  }

  /** What a command of Parley prints; throws if it fails. */
  says(...args: readonly string[]): Promise<string> {
    return new Promise((resolve, reject) => {
      const options = { cwd: this.cwd, env: this.#env, maxBuffer: 64 * 1024 * 1024 }
      execFile(process.execPath, [binary, ...args], options, (error, stdout, stderr) =>
        error === null ? resolve(stdout) : reject(new Error(`${args.join(' ')}: ${stderr.trim()}`)),
      )
    })
  }

  get #recorded(): readonly Recorded[] {
    if (!existsSync(this.#frames)) return []
    const lines = readFileSync(this.#frames, 'utf8').trim().split('\n')
    return lines.map((line) => JSON.parse(line) as Recorded)
  }

  async close(): Promise<void> {
    for (const client of this.#clients) if (!client.gone) await client.kill()
    await until(() => {
      const left = [...carrying(this.#mark), ...carrying(`HOME=${this.#home}`)]
      for (const pid of left) signal(pid, 'SIGKILL')
      return left.length === 0
    })
    await this.model.close()
  }
}
