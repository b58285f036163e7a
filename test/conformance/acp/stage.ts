/** Where a case plays: an agent that was just started, directories of its own, and the words that most talks need. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Fields, Message } from '../../e2e/message.ts'
import { type Case, isTagged } from './case.ts'
import { type Answers, type Ends, LineConnection } from './line-connection.ts'
import type { Mutant } from './mutant.ts'
import { type Told, type Transcript, errorOf, fieldsOf, updatesOf } from './record.ts'
import type { Pool, Seat } from './pool.ts'
import type { Transport } from './transport.ts'
import { Fault, NotApplicable, NotOffered } from './verdict.ts'

const AUTH_REQUIRED = -32_000
const INFO = { name: 'conformance', title: 'Conformance', version: '1' }

export interface Play {
  readonly transport: Transport
  readonly pool: Pool
  readonly mutant?: Mutant | undefined
  /** Milliseconds that an answer may take. */
  readonly patience: number
}

export class Stage {
  readonly #case: Case
  readonly #play: Play
  readonly #connections: LineConnection[] = []
  readonly #seat: Seat
  readonly #ends: (() => unknown)[] = []
  readonly #tally = { matches: 0, fired: false }
  /** All that belongs to the case is below it. */
  readonly directory: string
  /** Where sessions work. */
  readonly cwd: string
  #main: LineConnection | undefined
  /** What the agent says that it can. */
  offer: Fields = {}

  constructor(one: Case, play: Play) {
    this.#case = one
    this.#play = play
    this.directory = realpathSync(mkdtempSync(join(tmpdir(), 'conformance-')))
    this.cwd = this.dir('work')
    this.#seat = play.pool.take(one)
    this.script(one.script ?? [{ chunk: 'Hello.' }])
  }

  /** The first client. */
  get a(): LineConnection {
    if (this.#main === undefined) throw new Error('nothing is open')
    return this.#main
  }

  get transcript(): Transcript {
    return this.a.transcript
  }

  /** Milliseconds that anything may take. */
  get patience(): number {
    return this.#play.patience
  }

  get fired(): boolean {
    return this.#tally.fired
  }

  async open(): Promise<void> {
    const { waiting } = this.#seat
    if (waiting === undefined) {
      this.#main = await this.connect()
      if (!isTagged(this.#case, 'raw')) await this.initialize(this.#main)
    } else {
      this.#main = this.#on(waiting.ends, waiting.rest)
      this.offer = waiting.offer
      this.#main.offered = this.#case.client ?? {}
    }
  }

  /** Another client of the same server. */
  async another(client: Fields = this.#case.client ?? {}): Promise<LineConnection> {
    if (!this.#play.transport.manyClients) throw new NotApplicable('one pipe has one client')
    const connection = await this.connect()
    await this.initialize(connection, client)
    for (const known of this.#connections) known.shared = true
    return connection
  }

  /** The first client leaves, and comes back to what is stored. */
  async again(client: Fields = this.#case.client ?? {}): Promise<LineConnection> {
    await this.a.ends.end()
    this.#main = await this.connect()
    await this.initialize(this.#main, client)
    return this.#main
  }

  async connect(): Promise<LineConnection> {
    return this.#on(await this.#play.transport.open(this.#seat.place))
  }

  #on(ends: Ends, rest = ''): LineConnection {
    const { mutant, patience } = this.#play
    const connection = new LineConnection(ends, { mutant, tally: this.#tally, patience, rest })
    this.#connections.push(connection)
    return connection
  }

  async initialize(connection = this.a, clientCapabilities: Fields = this.#case.client ?? {}): Promise<Message> {
    const answer = await connection.request('initialize', this.introduction({ clientCapabilities }))
    const error = errorOf(answer)
    if (error !== undefined) throw new Fault(`initialize was refused: ${error.message}`)
    this.offer = fieldsOf(answer.result)
    return answer
  }

  introduction(more: Fields): Fields {
    const wish = this.#play.transport.introduction(this.#seat.place)
    return { protocolVersion: 1, clientInfo: INFO, ...more, ...wish }
  }

  /** Changes what the scripted agent does from its next turn on. */
  script(steps: readonly Fields[]): void {
    writeFileSync(this.#seat.place.script, steps.map((step) => `${JSON.stringify(step)}\n`).join(''))
  }

  dir(name: string): string {
    const path = join(this.directory, name)
    mkdirSync(path, { recursive: true })
    return path
  }

  /** Throws NotOffered unless there is something at this path of what the agent offers. */
  needs(...paths: readonly string[]): void {
    for (const path of paths) {
      let at: unknown = this.offer
      for (const key of path.split('.')) at = fieldsOf(at)[key]
      if (at === undefined || at === null || at === false)
        throw new NotOffered(`${path.split('.').at(-1)} is not offered`)
    }
  }

  /** Throws NotOffered unless `initialize` has named this method beyond ACP. */
  offers(method: string): void {
    const { parley } = fieldsOf(fieldsOf(fieldsOf(this.offer['agentCapabilities'])['_meta']))
    const { methods } = fieldsOf(parley)
    if (!Array.isArray(methods) || !methods.includes(method)) throw new NotOffered(`${method} is not offered`)
  }

  /** Opens a session and gives its id. */
  async session(more: Fields = {}, on = this.a): Promise<string> {
    return String((await this.ask('session/new', { cwd: this.cwd, mcpServers: [], ...more }, on))['sessionId'])
  }

  /** A session in which something was said: every agent has to keep that. */
  async talked(more: Fields = {}): Promise<string> {
    const sessionId = await this.session(more)
    await this.prompt(sessionId)
    return sessionId
  }

  load(sessionId: unknown, on = this.a): Promise<Fields> {
    return this.ask('session/load', { sessionId, cwd: this.cwd, mcpServers: [] }, on)
  }

  /** Another client that has the session open too. */
  async joined(sessionId: unknown, client?: Fields): Promise<LineConnection> {
    const other = await this.another(client)
    await this.ask('session/resume', { sessionId, cwd: this.cwd }, other)
    return other
  }

  /** The result of a request that must work. */
  async ask(method: string, params: Fields, on = this.a): Promise<Fields> {
    return this.mustWork(await on.request(method, params), method)
  }

  /** The result; a refusal for want of an account is no fault. */
  mustWork(answer: Message, what: string): Fields {
    const error = errorOf(answer)
    if (error === undefined) return fieldsOf(answer.result)
    if (error.code === AUTH_REQUIRED && this.#case.env === undefined) throw new NotOffered('it needs an account')
    // Whatever an agent of somebody else's lacks here, a session cannot be tried without one.
    if (what === 'session/new' && !this.#play.transport.scripted)
      throw new NotApplicable(`no session: ${error.message}`)
    throw new Fault(`${what} was refused: ${error.code} ${error.message.slice(0, 160)}`)
  }

  /** A whole turn in a new session: the updates of this kind that it sent, or of every kind. */
  async turn(kind?: string, more: Fields = {}): Promise<readonly Told[]> {
    const sessionId = await this.talked(more)
    return updatesOf(this.transcript, kind, sessionId)
  }

  begin(sessionId: string, text = 'Say hello.', on = this.a): Message['id'] {
    return on.begin('session/prompt', { sessionId, prompt: [{ type: 'text', text }] })
  }

  /** A whole turn. Its result. */
  async prompt(sessionId: string, text?: string, on = this.a): Promise<Fields> {
    return this.mustWork(await on.answerTo(this.begin(sessionId, text, on), 'session/prompt'), 'session/prompt')
  }

  /** One message of a session's updates of this kind. */
  told(kind: string, on = this.a): Promise<Message> {
    return on.until(
      ({ method, params }) => method === 'session/update' && fieldsOf(params?.['update'])['sessionUpdate'] === kind,
      `an update ${kind}`,
    )
  }

  question(on = this.a): Promise<Message> {
    return on.until(({ method }) => method === 'session/request_permission', 'a question')
  }

  answers(answers: Answers, on = this.a): void {
    on.answers = answers
  }

  /** What is to be ended with the case. */
  later(end: () => unknown): void {
    this.#ends.push(end)
  }

  /** `isSound` says whether the agent may serve another case. */
  async close(isSound: boolean): Promise<void> {
    const { place } = this.#seat
    const kept = isSound && this.#main?.isEnded === false && this.#main.isSettled ? this.#main : undefined
    await Promise.all(this.#connections.filter((one) => one !== kept).map(({ ends }) => ends.end()))
    for (const end of this.#ends) await end()
    const waiting = kept && { ends: kept.ends, offer: this.offer, rest: kept.detach() }
    await this.#play.transport.leave?.(place)
    await this.#play.pool.give(this.#case, { place, ...(waiting && { waiting }) })
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 5 })
  }
}
