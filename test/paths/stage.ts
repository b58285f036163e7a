/** A server of the instrumented build with its state, its clients and, where the agent is a model, a scripted provider. */
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cleanEnvironment } from '../e2e/environment.ts'
import { freshDirectory, initialize, newSession, scriptAgent } from '../e2e/parley.ts'
import { RawClient } from '../e2e/raw-client.ts'
import { type ModelServer, startModelServer } from '../model-server/server.ts'
import { VISITS_VARIABLE } from './instrument.ts'
import type { Way } from './ways.ts'

export interface Visit {
  readonly at: bigint
  /** Process and thread. */
  readonly thread: string
  readonly file: string
}

export class Stage {
  readonly cwd: string
  readonly #directory = freshDirectory()
  readonly #visits = join(this.#directory, 'visits')
  readonly #clients: RawClient[] = []
  readonly #bin: string
  readonly #way: Way
  #model: ModelServer | undefined

  constructor(bin: string, way: Way) {
    this.#bin = bin
    this.#way = way
    this.cwd = join(this.#directory, 'work')
    mkdirSync(this.cwd)
  }

  /** One that has initialized, as an editor's relay. */
  async client(): Promise<RawClient> {
    const env = await this.#environment()
    const child = spawn(process.execPath, [this.#bin, 'acp'], { cwd: '/', env })
    const client = new RawClient(child)
    this.#clients.push(client)
    await initialize(client)
    return client
  }

  /** One that has made a session, and another that has joined it. */
  async twoClients(): Promise<{ readonly one: RawClient; readonly other: RawClient; readonly sessionId: string }> {
    const one = await this.client()
    const sessionId = await newSession(one, this.cwd)
    const other = await this.client()
    await other.request('session/load', { sessionId, cwd: this.cwd, mcpServers: [] })
    return { one, other, sessionId }
  }

  /** Resolves when the provider got the request of this number, from 0. */
  async modelRequest(index: number): Promise<void> {
    await this.#model?.request(index)
  }

  /** What all processes passed so far, in order of time. */
  visits(): readonly Visit[] {
    const lines = readFileSync(this.#visits, 'utf8').trim().split('\n')
    return lines
      .map((line) => line.split(' '))
      .map(([at = '0', thread = '', file = '']) => ({ at: BigInt(at), thread, file }))
      .toSorted((a, b) => (a.at < b.at ? -1 : 1))
  }

  async close(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.kill()))
    const stop = spawn(process.execPath, [this.#bin, 'stop'], { env: await this.#environment() })
    await new Promise((resolve) => stop.once('close', resolve))
    await this.#model?.close()
    rmSync(this.#directory, { recursive: true, force: true, maxRetries: 3 })
  }

  async #environment(): Promise<Record<string, string>> {
    const home = join(this.#directory, 'home')
    const configuration = join(home, 'config/parley')
    const model = this.#way.model
    // As most users have it: clients name no agent.
    mkdirSync(configuration, { recursive: true })
    const agent = model === undefined ? await scriptAgent(this.#directory, this.#way.script) : 'model'
    writeFileSync(join(configuration, 'parley.toml'), `agent = ${JSON.stringify(agent)}\n`)
    if (model !== undefined) this.#model ??= await startModelServer(model, { models: ['scripted'] })
    const provider = this.#model && {
      OPENAI_API_KEY: 'none',
      OPENAI_BASE_URL: `${this.#model.url}/v1`,
      PARLEY_MODEL: 'openai:scripted',
    }
    return {
      ...cleanEnvironment(),
      ...provider,
      ...(this.#way.faults && { PARLEY_FAULTS: JSON.stringify(this.#way.faults) }),
      XDG_CONFIG_HOME: join(home, 'config'),
      PARLEY_HOME: home,
      [VISITS_VARIABLE]: this.#visits,
    }
  }
}
