/** A state directory of its own, its server, and the clients that attach to it: relays as editors run them, followers at a pipe. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AccessTokens } from '../../src/credentials/access-tokens.ts'
import { cleanEnvironment } from '../e2e/environment.ts'
import { socketPathOf } from '../../src/config/socket.ts'
import { carrying, commandOf, running, runs, serverOf, signal, until } from '../fixtures/process/running.ts'
import type { Fields, Message } from '../e2e/message.ts'
import { binary, initialize, scriptAgent } from '../e2e/parley.ts'
import { RawClient } from '../e2e/raw-client.ts'
import { RawSocket } from '../e2e/raw-socket.ts'
import { FaultyProxy } from '../wire/faulty-proxy.ts'
import { chanceOf } from '../series/chance.ts'

/** Whatever takes longer hangs. Milliseconds. */
const PATIENCE = 120_000

interface Founding {
  readonly bin?: string | undefined
  /** Sessions open without the tool. */
  readonly hasNoTool?: boolean
  /** Beside the usual, for everyone who is there. */
  readonly env?: Readonly<Record<string, string>>
}

interface Circumstances {
  readonly env?: Readonly<Record<string, string>>
  /** A program that runs ours. */
  readonly under?: readonly string[]
}

export class Town {
  readonly directory: string
  readonly home: string
  readonly cwd: string
  readonly agent: string
  readonly #bin: string
  readonly #env: Readonly<Record<string, string>>
  readonly #port: number
  #door: Promise<Door> | undefined
  readonly #hasTool: boolean
  #chapter = ''
  readonly #children: ChildProcessWithoutNullStreams[] = []

  private constructor(directory: string, agent: string, { bin = binary, env = {}, hasNoTool = false }: Founding) {
    this.directory = directory
    this.home = join(directory, 'home')
    this.cwd = join(directory, 'work')
    this.agent = agent
    this.#bin = bin
    this.#env = env
    this.#port = Number(env['PARLEY_LISTEN'] ?? 0)
    this.#hasTool = !hasNoTool
    mkdirSync(this.cwd)
  }

  static async found(steps: readonly Fields[], bin = binary): Promise<Town> {
    const directory = await mkdtemp(join(tmpdir(), 'parley-town-'))
    return Town.foundAt(directory, await scriptAgent(directory, steps), { bin })
  }

  /** `agent`: as `--agent` names it. */
  static foundAt(directory: string, agent: string, founding: Founding): Town {
    return new Town(directory, agent, founding)
  }

  /** The tool of what is opened from now on writes to another file. */
  turnOver(chapter: string): void {
    this.#chapter = `-${chapter}`
  }

  /** Where its server listens for remote clients. */
  get port(): number {
    return this.#port
  }

  /** Where the tool writes down what it did. */
  get effects(): string {
    return join(this.directory, `effects${this.#chapter}.jsonl`)
  }

  /** Where remote clients connect, through a proxy that `env` has given the server's port, each with a token. */
  async door(): Promise<Door> {
    this.#door ??= openDoor(this)
    return this.#door
  }

  get socket(): string {
    return socketPathOf(this.home)
  }

  /** What the sessions of this town open with; `life` tells the tool who called it. */
  opening(life: string): Fields {
    if (!this.#hasTool) return { cwd: this.cwd, mcpServers: [] }
    const args = [new URL('appending-server.sh', import.meta.url).pathname, this.effects, life]
    return { cwd: this.cwd, mcpServers: [{ name: 'appending', command: '/bin/sh', args, env: [] }] }
  }

  /** `parley acp`, past its first exchange. */
  async relay(): Promise<RawClient> {
    const relay = new RawClient(this.start(['acp', '--agent', this.agent]))
    await initialize(relay)
    return relay
  }

  /** `parley serve`, listening, in an environment of its own and under another program if one is given. */
  async serve(env: Readonly<Record<string, string>> = {}, under: readonly string[] = []): Promise<void> {
    const child = this.start(['serve'], { env, under })
    let said = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (said += text))
    await until(() => said.includes('listens on') || child.exitCode !== null, PATIENCE)
    if (child.exitCode !== null) throw new Error(`no server: ${said.slice(-300)}`)
  }

  /** `parley attach --json`. */
  follow(sessionId: string): Follower {
    return new Follower(this.start(['attach', '--json', sessionId]))
  }

  start(args: readonly string[], { env: more = {}, under = [] }: Circumstances = {}): ChildProcessWithoutNullStreams {
    const env = {
      ...cleanEnvironment(),
      XDG_CONFIG_HOME: join(this.directory, 'config'),
      PARLEY_HOME: this.home,
      ...this.#env,
      ...more,
    }
    const [command = '', ...words] = [...under, process.execPath, this.#bin, ...args]
    const child = spawn(command, words, { cwd: this.cwd, env })
    child.stdin.on('error', () => {
      // Whoever was killed reads no more.
    })
    this.#children.push(child)
    return child
  }

  /** What a command says once it has ended. */
  async says(args: readonly string[]): Promise<{ readonly code: number | null; readonly stderr: string }> {
    const child = this.start(args)
    let stderr = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
    child.stdout.resume()
    const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
    return { code, stderr }
  }

  /** The process that serves this town now. */
  server(): number | undefined {
    return serverOf(this)
  }

  /** kill -9; gives the pid, once the process is gone. */
  async killServer(): Promise<number> {
    const pid = this.server()
    if (pid === undefined) throw new Error('no server runs')
    process.kill(pid, 'SIGKILL')
    await until(() => !runs(pid))
    return pid
  }

  /** Everyone leaves and the server is stopped in order; gives the processes that stay all the same, each with what it runs. */
  async empty(): Promise<readonly string[]> {
    for (const child of this.#children) child.stdin.end()
    const followers = this.#children.filter(({ spawnargs }) => spawnargs.includes('attach'))
    for (const child of followers) child.kill('SIGINT')
    // Whoever has not left yet may be at starting a server again.
    const others = this.#children.filter(({ spawnargs }) => !spawnargs.includes('serve'))
    await until(() => others.every(hasEnded), PATIENCE / 8).catch(() => undefined)
    await patiently('the server to stop', this.#stop())
    const stay = () => [...carrying(`PARLEY_HOME=${this.home}`), ...this.#allTools()]
    const untilEmpty = () => until(() => stay().length === 0, PATIENCE / 8).catch(() => undefined)
    await untilEmpty()
    // One that somebody began to start just before they left listens only now, and would until it has been idle for long enough.
    if (this.server() !== undefined) await patiently('a late server to stop', this.#stop()).then(untilEmpty)
    return stay().map((pid) => `${pid} (${commandOf(pid)})`)
  }

  /** As `parley stop --grace 0` does it, without a process more. */
  async #stop(): Promise<void> {
    const server = this.server()
    try {
      const order = await RawSocket.open(this.socket)
      await order.request('_parley/stop', { graceMs: 0 })
    } catch {
      // Nobody listens, or nobody does any more; one that lets nobody in still hears this.
      if (server !== undefined) signal(server, 'SIGTERM')
    }
    await until(() => this.server() === undefined, PATIENCE)
  }

  /** However it ended, nothing of it stays. */
  async raze(keep = false): Promise<void> {
    for (const pid of [...carrying(`PARLEY_HOME=${this.home}`), ...this.#allTools()]) signal(pid, 'SIGKILL')
    for (const child of this.#children) child.kill('SIGKILL')
    const door = await this.#door?.catch(() => undefined)
    door?.proxy.close()
    await until(() => this.server() === undefined).catch(() => undefined)
    if (!keep) await rm(this.directory, { recursive: true, force: true, maxRetries: 3 })
  }

  /** The tool is named by the file that it writes; its environment says nothing of ours. */
  tools(): readonly number[] {
    return running(this.effects)
  }

  #allTools(): readonly number[] {
    return running(join(this.directory, 'effects'))
  }
}

export interface Door {
  readonly proxy: FaultyProxy
  readonly url: string
  readonly tokens: readonly string[]
}

async function openDoor({ home, port }: Town): Promise<Door> {
  const proxy = await FaultyProxy.before(() => port, chanceOf(port))
  const known = new AccessTokens(home, Date)
  const tokens = ['far', 'further'].map((name) => known.add(name, 'admin'))
  return { proxy, url: `ws://127.0.0.1:${proxy.port}/acp`, tokens }
}

/** What `parley attach --json` prints: the params of each update, one per line. */
export class Follower {
  readonly messages: Message[] = []
  stderr = ''
  readonly #child: ChildProcessWithoutNullStreams
  #rest = ''

  constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child
    child.stderr.setEncoding('utf8').on('data', (text: string) => (this.stderr += text))
    child.stdout.setEncoding('utf8').on('data', (text: string) => this.#read(text))
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }

  /** As with Ctrl-C; resolves when the process has ended. */
  async leave(): Promise<void> {
    this.#child.kill('SIGINT')
    while (!hasEnded(this.#child)) await new Promise((resolve) => this.#child.once('close', resolve))
  }

  async until(check: () => boolean): Promise<void> {
    while (!check()) {
      if (this.#child.exitCode !== null) throw new Error(`attach has ended: ${this.stderr}`)
      await new Promise((resolve) => this.#child.once('heard', resolve))
    }
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines)
      this.messages.push({ jsonrpc: '2.0', method: 'session/update', params: JSON.parse(line) as Fields })
    this.#child.emit('heard')
  }
}

export async function patiently<Value>(what: string, work: Promise<Value>): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`waited ${PATIENCE} ms for ${what}`)), PATIENCE)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}

function hasEnded({ exitCode, signalCode }: ChildProcessWithoutNullStreams): boolean {
  return exitCode !== null || signalCode !== null
}
