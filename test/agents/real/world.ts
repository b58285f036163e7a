/** One real agent behind the real binary: its home, its scripted model, and the clients of its server. */
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { cleanEnvironment } from '../../e2e/environment.ts'
import type { Message } from '../../e2e/message.ts'
import { binary, initialize } from '../../e2e/parley.ts'
import { RawClient } from '../../e2e/raw-client.ts'
import { carrying, until } from '../../fixtures/process/running.ts'
import { type ModelServer, startModelServer } from '../../model-server/server.ts'
import { answerTo } from './scripted.ts'
import { type Setup, setUp } from './setups.ts'

export class World {
  readonly setup: Setup
  readonly model: ModelServer
  readonly cwd: string
  readonly #home: string
  readonly #state: string
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
    this.#env = { ...cleanEnvironment(), PARLEY_HOME: this.#state, ...setUp(setup, model.url, this.#home) }
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

  async killServer(): Promise<void> {
    const pid = Number.parseInt(readFileSync(join(this.#state, 'server.pid'), 'utf8'), 10)
    if (!(pid > 1)) throw new Error('no server runs')
    process.kill(pid, 'SIGKILL')
  }

  /** Every process of the agent, whoever started it. */
  get agentProcesses(): readonly number[] {
    const ours = new Set(carrying(`PARLEY_HOME=${this.#state}`))
    return carrying(`HOME=${this.#home}`).filter((pid) => !ours.has(pid))
  }

  killAgent(): number {
    const pids = this.agentProcesses
    for (const pid of pids) kill(pid)
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

  async close(): Promise<void> {
    for (const client of this.#clients) if (!client.gone) await client.kill()
    await until(() => {
      const left = [...carrying(`PARLEY_HOME=${this.#state}`), ...carrying(`HOME=${this.#home}`)]
      for (const pid of left) kill(pid)
      return left.length === 0
    })
    await this.model.close()
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has just ended by itself.
  }
}

/** The first option of a question that allows the thing once. */
export function allowing({ params }: Message): string {
  const options = (params?.['options'] ?? []) as readonly { readonly kind: string; readonly optionId: string }[]
  return (options.find(({ kind }) => kind === 'allow_once') ?? options[0])?.optionId ?? ''
}
