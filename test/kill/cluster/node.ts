/** One node of a cluster that chaos befalls: it is started again whenever it has ended, as a service would. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { AccessTokens } from '../../../src/credentials/access-tokens.ts'
import { socketPathOf } from '../../../src/config/socket.ts'
import { environmentOf } from '../../e2e/environment.ts'
import { RawSocket } from '../../e2e/raw-socket.ts'
import { freePort } from '../../fixtures/process/free-port.ts'
import { until } from '../../fixtures/process/running.ts'
import { chanceOf } from '../../series/chance.ts'
import { FaultyProxy } from '../../wire/faulty-proxy.ts'
import { RawHttp } from '../../wire/raw-http.ts'
import { RawWebSocket } from '../../wire/raw-web-socket.ts'
import type { Wire } from '../chaos/goer.ts'

/** Before it is started again. Milliseconds. */
const PAUSE_MS = 100

export type Over = 'socket' | 'WebSocket' | 'HTTP'

export interface NodePlace {
  readonly name: string
  readonly home: string
  readonly bin: string
  readonly schema: string
  /** Where the primary of the moment listens. */
  readonly database: () => string
}

export class ChaosNode {
  readonly name: string
  readonly home: string
  /** Between this node and the database. */
  readonly toDatabase: FaultyProxy
  /** Between the other nodes and this one. */
  readonly fromNodes: FaultyProxy
  readonly env: Readonly<Record<string, string>>
  readonly #bin: string
  readonly #port: number
  readonly #token: string
  readonly #exits: string[] = []
  #child: ChildProcessWithoutNullStreams | undefined
  #isListening = false
  #isOver = false

  private constructor(place: NodePlace, { toDatabase, fromNodes, listen, port }: Ways) {
    this.name = place.name
    this.home = place.home
    this.#bin = place.bin
    this.toDatabase = toDatabase
    this.fromNodes = fromNodes
    this.#port = port
    mkdirSync(place.home, { mode: 0o700 })
    this.#token = new AccessTokens(place.home, Date).add('far', 'admin')
    this.env = {
      ...environmentOf(place),
      PARLEY_NODE: place.name,
      PARLEY_LISTEN: String(port),
      PARLEY_REMOTE_REQUESTS_PER_SECOND: '1000',
      PARLEY_CLUSTER: `postgres://parley@127.0.0.1:${toDatabase.port}/postgres`,
      PARLEY_CLUSTER_SCHEMA: place.schema,
      PARLEY_CLUSTER_LISTEN: `127.0.0.1:${listen}`,
      PARLEY_CLUSTER_ADVERTISE: `127.0.0.1:${fromNodes.port}`,
    }
  }

  static async at(place: NodePlace): Promise<ChaosNode> {
    const [listen, port] = [await freePort(), await freePort()]
    const toDatabase = await FaultyProxy.before(place.database, chanceOf(port))
    const fromNodes = await FaultyProxy.before(() => listen, chanceOf(listen))
    return new ChaosNode(place, { toDatabase, fromNodes, listen, port })
  }

  /** Resolves once it listens. */
  async start(): Promise<void> {
    this.#run()
    try {
      await this.listening()
    } catch (error) {
      throw new Error(`${this.traces()}\n${String(error)}`, { cause: error })
    }
  }

  async listening(): Promise<void> {
    await until(() => this.#isListening)
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  signal(name: NodeJS.Signals): void {
    this.#child?.kill(name)
  }

  /** A client that has greeted it; rejects while it is away. */
  async client(over: Over, agent?: string): Promise<Wire> {
    if (over === 'WebSocket') return RawWebSocket.greeted(`ws://127.0.0.1:${this.#port}/acp`, this.#token)
    if (over === 'HTTP') return RawHttp.greeted(`ws://127.0.0.1:${this.#port}/acp`, this.#token)
    return RawSocket.open(socketPathOf(this.home), agent === undefined ? {} : { agent })
  }

  /** What it said when it ended, and the end of its log. */
  traces(): string {
    const log = join(this.home, 'parley.log')
    const lines = existsSync(log) ? readFileSync(log, 'utf8').split('\n') : []
    const logged = lines.filter((line) => !line.includes('started an MCP server')).join('\n')
    return `${this.name} (${this.pid}) exits: ${this.#exits.join(' | ')}\n    log …${logged.slice(-2_000)}`
  }

  /** In order, and for good. */
  async end(): Promise<void> {
    this.#isOver = true
    this.signal('SIGCONT')
    this.signal('SIGTERM')
    await until(() => this.#child === undefined, 20_000).catch(() => this.signal('SIGKILL'))
  }

  close(): void {
    this.#isOver = true
    this.signal('SIGKILL')
    this.toDatabase.close()
    this.fromNodes.close()
  }

  #run(): void {
    const child = spawn(process.execPath, [this.#bin, 'serve'], { env: this.env, cwd: this.home })
    this.#child = child
    let said = ''
    const hear = (text: string): void => {
      said = (said + text).slice(-4_000)
      this.#isListening ||= said.includes('listens on')
    }
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', hear)
    child.on('close', (code, signal) => {
      this.#exits.push(`${signal ?? code}: ${said.slice(-300).trim()}`)
      this.#isListening = false
      this.#child = undefined
      void sleep(PAUSE_MS).then(() => this.#isOver || this.#run())
    })
  }
}

interface Ways {
  readonly toDatabase: FaultyProxy
  readonly fromNodes: FaultyProxy
  /** Where it listens for the other nodes, and for remote clients. */
  readonly listen: number
  readonly port: number
}
