/**
 * Everyone who is on the session when things go wrong: two relays, a follower, a runner, a client on the bare socket, and
 * one each over WebSocket and HTTP.
 */
import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Fields, type Message, type SeenUpdate, updatesIn } from '../../e2e/message.ts'
import type { RawClient } from '../../e2e/raw-client.ts'
import { RawSocket } from '../../e2e/raw-socket.ts'
import { until } from '../../fixtures/process/running.ts'
import { RawHttp } from '../../wire/raw-http.ts'
import { RawWebSocket } from '../../wire/raw-web-socket.ts'
import { type Phase, phaseOf } from '../phase.ts'
import { type Follower, type Town, patiently } from '../town.ts'
import { Goer, type Sent, promptRaw } from './goer.ts'

/** A remote client, behind a proxy that is no good. */
interface Far {
  readonly over: 'WebSocket' | 'HTTP'
  readonly client: Goer
}

async function farClients(town: Town, opening: Fields): Promise<readonly Far[]> {
  const { url, tokens } = await town.door()
  const [first = '', second = ''] = tokens
  return [
    { over: 'WebSocket', client: await Goer.join(() => RawWebSocket.greeted(url, first), opening) },
    { over: 'HTTP', client: await Goer.join(() => RawHttp.greeted(url, second), opening) },
  ]
}

interface Gathered {
  readonly sessionId: string
  readonly one: RawClient
  readonly other: RawClient
  readonly goer: Goer
  readonly far: readonly Far[]
}

interface Runner {
  readonly child: ChildProcessWithoutNullStreams
  /** What it printed. */
  readonly lines: Fields[]
  /** What it said on its standard error. */
  said(): string
  /** Resolves when it is gone, by itself or not. */
  readonly ended: Promise<unknown>
}

export type Pair = readonly [one: RawClient, other: RawClient]

interface Visit {
  prompt(): Sent
  /** It stays for the next session. */
  readonly relay: RawClient | undefined
}

/** Whoever is left has started a server by then. Milliseconds. */
const SOON = 10_000
/** How often somebody who has seen nothing tries to load. */
const TRIES = 5

export class Cast {
  readonly relays: RawClient[] = []
  readonly sent: Sent[] = []
  readonly runner: Runner
  readonly follower: Follower
  readonly goer: Goer
  readonly far: readonly Far[]
  readonly sessionId: string
  readonly #town: Town
  readonly #thinkMs: number
  readonly #answered = new Set<Message['id']>()
  readonly #farewells: (() => void)[] = []
  #first = 0

  private constructor(town: Town, { sessionId, one, other, goer, far }: Gathered, thinkMs: number) {
    this.#town = town
    this.#thinkMs = thinkMs
    this.sessionId = sessionId
    this.goer = goer
    this.far = far
    this.follower = town.follow(sessionId)
    this.#admit(one)
    this.#admit(other)
    this.#first = one.received.length
    this.#prompt(one)
    this.#prompt(other)
    this.runner = this.#run()
    this.#prompt(goer)
    for (const { client } of far) this.#prompt(client)
  }

  /** On a new session. `thinkMs` is how long each of them takes to answer a question. */
  static async gather(town: Town, [one, other]: Pair, thinkMs: number): Promise<Cast> {
    const { result, error } = await patiently('a session', one.request('session/new', town.opening('one')))
    if (result === undefined) throw new Error(`no session: ${error?.message}`)
    const sessionId = String(result['sessionId'])
    const opening = { sessionId, cwd: town.cwd, mcpServers: [] }
    await patiently('its load', other.request('session/load', opening))
    const goer = await patiently(
      'the raw client',
      Goer.join(() => RawSocket.open(town.socket), opening),
    )
    const far = await patiently('the remote clients', farClients(town, opening))
    return new Cast(town, { sessionId, one, other, goer, far }, thinkMs)
  }

  /**
   * One more, who has seen nothing, and answers what the others can no longer answer: on the bare socket, or a relay in place of
   * one that was killed, which stays. It prompts once more, and that is answered.
   */
  async visit(): Promise<Visit> {
    const opening = { sessionId: this.sessionId, ...this.#town.opening('reader') }
    for (let tries = 1; !this.relays.some(({ gone }) => gone) && (await this.#isServed()); tries += 1) {
      const visiting = Goer.visit(
        () => RawSocket.open(this.#town.socket),
        opening,
        (message, on) => this.#answer(on, message),
      )
      const visitor = await patiently('its load', visiting).catch((error: unknown) => {
        // A server that was harmed may need a moment to die of it.
        if (tries === TRIES) throw error
      })
      if (visitor === undefined) continue
      this.#farewells.push(() => visitor.leave())
      return { prompt: () => this.#prompt(visitor), relay: undefined }
    }
    return this.#visitByRelay(opening)
  }

  /**
   * All that is stored is told once more, to somebody else who has seen nothing; then the session is closed. `isWhole`: nothing
   * of the log was taken away, so whoever was there all the time has heard the last word too.
   */
  async close(isWhole: boolean): Promise<readonly SeenUpdate[]> {
    const connection = await RawSocket.open(this.#town.socket)
    try {
      const opening = { sessionId: this.sessionId, ...this.#town.opening('reader') }
      const { error } = await patiently('the last load', connection.request('session/load', opening))
      if (error !== undefined) throw new Error(`the last load was refused: ${error.message}`)
      const replay = updatesIn(connection.received, this.sessionId)
      if (isWhole) await this.#hasAll(replay)
      await this.leave()
      await patiently('the close', connection.request('session/close', { sessionId: this.sessionId }))
      return replay
    } finally {
      await connection.leave()
    }
  }

  async #hasAll(replay: readonly SeenUpdate[]): Promise<void> {
    const last = replay.findLast(({ update }) => update.sessionUpdate.endsWith('_chunk'))?.seq ?? 0
    const isThere = (message: Message): boolean => updatesIn([message], this.sessionId).some(({ seq }) => seq >= last)
    for (const relay of this.relays) if (!relay.gone) await patiently('the last word at a relay', relay.until(isThere))
    await patiently(
      'the last word at the raw client',
      until(() => this.goer.received.some(isThere)),
    )
    for (const { over, client } of this.far)
      await patiently(
        `the last word over ${over}`,
        until(() => client.received.some(isThere)),
      )
  }

  /** All but the relays, which go on to the next session. */
  async leave(): Promise<void> {
    this.goer.leave()
    for (const { client } of this.far) client.leave()
    for (const farewell of this.#farewells.splice(0)) farewell()
    await patiently('the follower to leave', this.follower.leave())
  }

  async isGone(): Promise<boolean> {
    const { code } = await this.#town.says(['show', this.sessionId])
    return code !== 0
  }

  /** How much everybody has heard. */
  get heard(): number {
    return this.relays.reduce((sum, { received }) => sum + received.length, this.goer.received.length)
  }

  /** Somebody who is there has the turn cancelled that runs. */
  cancel(): void {
    const relay = this.relays.find(({ gone }) => !gone)
    if (relay === undefined) this.goer.notify('session/cancel', { sessionId: this.sessionId })
    else relay.notify('session/cancel', { sessionId: this.sessionId })
  }

  /** Resolves when the server has handled every cancel that was sent: one that comes late cancels whatever runs by then. */
  async cancelsHandled(): Promise<void> {
    const asked = this.relays.filter(({ gone }) => !gone).map((relay) => relay.request('session/list', {}))
    await patiently('an answer behind the cancels', Promise.all([...asked, this.goer.isHeard()]))
  }

  /** Where in the first turn we are, as its relay sees it. */
  phase(): Phase {
    const messages = this.relays[0]?.received.slice(this.#first) ?? []
    return phaseOf({ messages, answered: this.#answered, prompts: [this.relays[0]?.asked.size ?? 0] })
  }

  /** So many messages of the first prompt, or its first question, or the end of all that says any. */
  async hasHeard(what: number | 'a question'): Promise<void> {
    const [one] = this.relays
    const enough =
      what === 'a question'
        ? one?.until(({ method }) => method === 'session/request_permission')
        : one?.until(() => one.received.length - this.#first >= what)
    await Promise.race([enough?.catch(() => undefined), this.sent[1]?.answered()])
  }

  /** By name, what each was shown; the runner came in the middle. */
  views(): readonly (readonly [string, readonly SeenUpdate[]])[] {
    const relays = this.relays.map((relay, n) => [`relay ${n + 1}`, updatesIn(relay.received, this.sessionId)] as const)
    const asUpdates = (lines: readonly Fields[]): readonly SeenUpdate[] =>
      updatesIn(lines.map((params) => ({ jsonrpc: '2.0', method: 'session/update', params })))
    const runner = asUpdates(this.runner.lines.filter((line) => 'update' in line))
    return [
      ...relays,
      ['the raw client', updatesIn(this.goer.received)],
      ...this.far.map(({ over, client }) => [over, updatesIn(client.received)] as const),
      ['the follower', updatesIn(this.follower.messages)],
      ['the runner', runner],
    ]
  }

  #admit(relay: RawClient): void {
    this.relays.push(relay)
    this.#farewells.push(relay.listen((message) => this.#answer(relay, message)))
  }

  #answer(client: Pick<RawClient, 'reply'>, { id, method }: Message): void {
    if (method !== 'session/request_permission') return
    const answer = (): void => {
      this.#answered.add(id)
      client.reply(id, { outcome: { outcome: 'selected', optionId: 'allow_once' } })
    }
    if (this.#thinkMs === 0) answer()
    else setTimeout(answer, this.#thinkMs)
  }

  /** Whether somebody listens by now; whoever is left starts a server as soon as the last one is gone. */
  async #isServed(): Promise<boolean> {
    for (const end = performance.now() + SOON; performance.now() < end; await sleep(20)) {
      const connection = await RawSocket.open(this.#town.socket).catch(() => undefined)
      await connection?.leave()
      if (connection !== undefined) return true
    }
    return false
  }

  async #visitByRelay(opening: Fields): Promise<Visit> {
    const relay = await patiently('the reader', this.#town.relay())
    this.#farewells.push(relay.listen((message) => this.#answer(relay, message)))
    const { error } = await patiently('its load', relay.request('session/load', opening))
    if (error !== undefined) throw new Error(`session/load was refused: ${error.message}`)
    return { prompt: () => this.#prompt(relay), relay }
  }

  /** By a relay, or else by one on the bare socket. */
  #prompt(by: RawClient | Goer): Sent {
    const number = this.sent.length + 1
    const [promptId, text] = [`prompt-${number}`, `Tell the tale, for the ${number}. time.`]
    const sent = by instanceof Goer ? promptRaw(by, promptId, text) : this.#promptBy(by, promptId, text)
    this.sent.push(sent)
    return sent
  }

  #promptBy(relay: RawClient, promptId: string, text: string): Sent {
    const prompt = [{ type: 'text', text }]
    const id = relay.ask('session/prompt', {
      sessionId: this.sessionId,
      prompt,
      _meta: { 'parley/promptId': promptId },
    })
    const answers = () => relay.received.filter((message) => message.id === id && message.method === undefined)
    const answered = () => relay.answerTo(id).catch(() => undefined)
    return { promptId, text, answers, answered, isOwed: () => !relay.gone }
  }

  #run(): Runner {
    const args = ['run', '--json', '--session', this.sessionId, '--agent', this.#town.agent]
    const child = this.#town.start([...args, 'Tell it to the runner.'])
    const lines: Fields[] = []
    let rest = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      const whole = (rest + text).split('\n')
      rest = whole.pop() ?? ''
      lines.push(...whole.map((line) => JSON.parse(line) as Fields))
    })
    let said = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
    return { child, lines, said: () => said, ended: new Promise((resolve) => child.on('close', resolve)) }
  }
}
