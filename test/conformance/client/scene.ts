/** `parley run` or our client itself before an agent that plays a book, and what that agent heard. */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Client, connect } from '../../../src/client/client.ts'
import type { ClientDelegate } from '../../../src/client/client-delegate.ts'
import { openLineTransport } from '../../../src/client/connection/transport.ts'
import type { UpdateParams } from '../../../src/client/incoming/updates.ts'
import { Cli, type Finished, type Run, parley } from '../../e2e/cli.ts'
import type { Fields, Message } from '../../e2e/message.ts'
import { until } from '../../fixtures/process/running.ts'

const AGENT = fileURLToPath(new URL('fake-agent.mjs', import.meta.url))

export type Step = Fields

/** Method → steps. */
export type Book = Readonly<Record<string, readonly Step[]>>

export const CLOSED = 'the client closed its side'

export class Scene {
  readonly directory = realpathSync(mkdtempSync(join(tmpdir(), 'client-')))
  readonly cwd = join(this.directory, 'work')
  readonly updates: UpdateParams[] = []
  /** The sessions whose turns were asked to end. */
  readonly cancelling: string[] = []
  readonly #log = join(this.directory, 'heard.jsonl')
  readonly #book: Book
  #end: () => void = () => undefined
  ask: ClientDelegate['ask'] = () => new Promise(() => undefined)

  constructor(book: Book) {
    this.#book = book
    mkdirSync(this.cwd)
  }

  /** What the agent heard; a text for the end. */
  get heard(): readonly (Message | string)[] {
    if (!existsSync(this.#log)) return []
    const lines = readFileSync(this.#log, 'utf8').split('\n').slice(0, -1)
    return lines.map((line) => JSON.parse(line) as Message | string)
  }

  get messages(): readonly Message[] {
    return this.heard.filter((one): one is Message => typeof one !== 'string')
  }

  get methods(): readonly (string | undefined)[] {
    return this.messages.flatMap(({ method }) => method ?? [])
  }

  paramsOf(method: string): Fields {
    return this.messages.find((one) => one.method === method)?.params ?? {}
  }

  /** The answer to a request of the agent. */
  answer(id: Message['id']): Message | undefined {
    return this.messages.find((one) => one.id === id && one.method === undefined)
  }

  answers(id: Message['id']): readonly Message[] {
    return this.messages.filter((one) => one.id === id && one.method === undefined)
  }

  /** `parley run` to its end. */
  run(...args: readonly string[]): Promise<Finished> {
    return parley(this.#words(args), this.#place)
  }

  start(...args: readonly string[]): Cli {
    return new Cli(this.#words(args), this.#place)
  }

  get #place(): Run {
    return { home: join(this.directory, 'home'), cwd: this.cwd }
  }

  #words(args: readonly string[]): readonly string[] {
    const words = [process.execPath, AGENT, JSON.stringify(this.#book), this.#log]
    const command = words.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(' ')
    return ['run', 'Do it.', '--agent-command', command, ...args]
  }

  /** Our client on the agent's pipes, without a face. */
  connect(): Promise<Client> {
    const child = spawn(process.execPath, [AGENT, JSON.stringify(this.#book), this.#log])
    this.#end = () => void child.kill('SIGKILL')
    child.stdin.on('error', () => undefined)
    const face: ClientDelegate = {
      updated: (params) => this.updates.push(params),
      cancelling: (sessionId) => this.cancelling.push(sessionId),
      ask: (question, withdrawn) => this.ask(question, withdrawn),
    }
    const dial = async () => openLineTransport(child.stdout, child.stdin)
    const means = { dial, pause: () => Promise.resolve(), newId: () => 'p', isDurable: false as const }
    return connect(means, face, { info: { name: 'test', title: 'Test', version: '1' } })
  }

  async until(fits: (one: Message | string) => boolean): Promise<void> {
    await until(() => this.heard.some(fits), 15_000)
  }

  close(): void {
    this.#end()
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** An agent that can do this. */
export const able = (agentCapabilities: Fields, more: Fields = {}): readonly Step[] => [
  { result: { protocolVersion: 1, agentCapabilities, agentInfo: { name: 'fake' }, ...more } },
]

export const NEW: readonly Step[] = [{ result: { sessionId: 's' } }]
export const ENDS: Step = { result: { stopReason: 'end_turn' } }

export const update = (content: Fields): Step => ({
  say: { method: 'session/update', params: { sessionId: 's', update: content } },
})
export const says = (text: string, sessionUpdate = 'agent_message_chunk'): Step =>
  update({ sessionUpdate, content: { type: 'text', text } })

export const asks = (id: number | string, method: string, params: Fields = {}): Step => ({
  request: { id, method, params: { sessionId: 's', ...params } },
})

export const question = (id: string): Fields => ({
  id,
  method: 'session/request_permission',
  params: {
    sessionId: 's',
    toolCall: { toolCallId: `call-${id}`, title: 'Delete all' },
    options: [
      { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
      { optionId: 'no', name: 'Reject', kind: 'reject_once' },
    ],
  },
})
