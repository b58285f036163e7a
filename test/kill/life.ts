/** One life of the server with one client: opened, prompted, and cut at the planned moment or left in peace. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { FaultsSpec } from '../../src/ports/fault.ts'
import { type Message, updateIn } from '../e2e/message.ts'
import { initialize, startParley } from '../e2e/parley.ts'
import type { RawClient } from '../e2e/raw-client.ts'
import type { Answer, View } from './evidence.ts'
import { FarClient, type Over, type Trouble } from './far-client.ts'
import { type Phase, phaseOf } from './phase.ts'
import type { Cut } from './plan.ts'

/** A server that says nothing for longer hangs; one that is slow, on a loaded machine, still says something. Milliseconds. */
const PATIENCE = 60_000

export interface Scene {
  readonly home: string
  readonly cwd: string
  readonly agent: string
  /** Where the tool writes down what it did. */
  readonly effects: string
  readonly bin: string | undefined
  /** Absent: the client is at the pipe of an embedded server. */
  readonly over?: Over | undefined
  /** What goes wrong on the way to a remote client follows from it. */
  readonly seed: number
  /** A tracer to run under, given the number of the life. */
  readonly under: (life: number) => readonly string[]
  /** How a question is answered, by its number within the life. */
  readonly answer: (nth: number) => 'allow_once' | 'reject_once'
}

export interface Prompt {
  readonly promptId: string
  readonly text: string
}

/** One client and the server that was started for it. */
export class Life {
  readonly client: RawClient
  readonly #scene: Scene
  readonly #number: number
  readonly #answered = new Set<Message['id']>()
  readonly #requests: { readonly promptId: string; readonly id: number }[] = []
  /** Where in all that was received this life's own turn begins. */
  #liveFrom = Infinity
  #questions = 0
  #cut: Cut | undefined
  #sessionId = ''
  #lastHeard = performance.now()

  constructor(scene: Scene, number: number, faults: FaultsSpec = []) {
    const { home, agent, bin, under, over, seed } = scene
    this.#scene = scene
    this.#number = number
    const env: Record<string, string> = faults.length === 0 ? {} : { PARLEY_FAULTS: JSON.stringify(faults) }
    const start = { home, agent, env, under: under(number), ...(bin === undefined ? {} : { bin }) }
    this.client = over === undefined ? startParley(start) : new FarClient(start, { over, seed: seed + number })
    this.client.listen((message) => this.#heard(message))
  }

  /** What went wrong on the way to a remote client. */
  get troubles(): readonly Trouble[] {
    return this.client instanceof FarClient ? this.client.troubles : []
  }

  get sessionId(): string {
    return this.#sessionId
  }

  async create(): Promise<string> {
    await initialize(this.client)
    const answer = await this.client.request('session/new', { cwd: this.#scene.cwd, mcpServers: this.#servers() })
    this.#sessionId = String(answer.result?.['sessionId'])
    return this.#sessionId
  }

  async load(sessionId: string): Promise<void> {
    this.#sessionId = sessionId
    await initialize(this.client)
    await this.#load()
    await this.#told()
  }

  /** Loads once more, and gives what that told. */
  async loadAgain(): Promise<readonly Message[]> {
    const from = this.client.received.length
    await this.#load()
    return this.client.received.slice(from)
  }

  /** Answered questions apart, everything from here on is this life's own turn. */
  prompt({ promptId, text }: Prompt): number {
    this.#liveFrom = Math.min(this.#liveFrom, this.client.received.length)
    const prompt = [{ type: 'text', text }]
    const _meta = { 'parley/promptId': promptId }
    const id = this.client.ask('session/prompt', { sessionId: this.#sessionId, prompt, _meta })
    this.#requests.push({ promptId, id })
    return id
  }

  /** Waits until the plan, or the end of all turns, has cut the power. */
  async untilCut(cut: Cut): Promise<void> {
    this.#cut = cut
    this.#mayCut()
    await this.patiently(Promise.race([this.client.exited, this.#allEnded()]))
    await this.client.kill()
  }

  /** Waits for the answers of all prompts. */
  async untilEnded(): Promise<void> {
    await this.patiently(this.#allEnded())
  }

  phase(): Phase {
    const messages = this.client.received.slice(this.#liveFrom)
    return phaseOf({ messages, answered: this.#answered, prompts: this.#requests.map(({ id }) => id) })
  }

  /** What the client was shown, up to the `end`-th message. */
  view(end = this.client.received.length): View {
    const messages = this.client.received.slice(0, end)
    const answers = this.#requests.flatMap(({ promptId, id }): readonly Answer[] => {
      const answer = messages.find((message) => message.id === id && message.method === undefined)
      if (answer === undefined) return []
      return [{ promptId, end: String(answer.result?.['stopReason'] ?? answer.error?.data?.['code']) }]
    })
    return { updates: messages.flatMap((message) => updateIn(message) ?? []), answers }
  }

  /** Whether a question of an earlier life came back and is still there to be answered. */
  get wasAsked(): boolean {
    return this.#questions > 0
  }

  async patiently<Value>(work: Promise<Value>): Promise<Value> {
    const over = new AbortController()
    const silence = this.#silence(over.signal)
    try {
      return await Promise.race([work, silence])
    } finally {
      over.abort()
      silence.catch(() => undefined)
    }
  }

  /** Rejects when nothing has been heard for too long. */
  async #silence(signal: AbortSignal): Promise<never> {
    this.#lastHeard = performance.now()
    for (;;) {
      const left = this.#lastHeard + PATIENCE - performance.now()
      if (left <= 0) throw new Error(`nothing happened for ${PATIENCE} ms in life ${this.#number}`)
      await sleep(left, undefined, { signal })
    }
  }

  async #load(): Promise<void> {
    const { cwd } = this.#scene
    const params = { sessionId: this.#sessionId, cwd, mcpServers: this.#servers() }
    const { error } = await this.patiently(this.client.request('session/load', params))
    if (error !== undefined) throw new Error(`session/load was refused: ${error.message}`)
  }

  /** What concerns one session is answered in the order it was asked: what follows the load has been told by now. */
  async #told(): Promise<void> {
    await this.client.request('session/prompt', { sessionId: this.#sessionId, prompt: [] })
  }

  #heard(message: Message): void {
    this.#lastHeard = performance.now()
    if (message.method === 'session/request_permission') this.#asked(message)
    this.#mayCut()
  }

  #asked({ id }: Message): void {
    this.#questions += 1
    const nth = this.#questions
    if (this.#cut?.kind === 'question' && this.#cut.nth <= nth) return this.#killAfter(this.#cut.afterMs)
    this.#answered.add(id)
    this.client.reply(id, { outcome: { outcome: 'selected', optionId: this.#scene.answer(nth) } })
  }

  #mayCut(): void {
    if (this.#cut?.kind !== 'clock') return
    const heard = this.client.received.length - this.#liveFrom
    if (heard < this.#cut.message) return
    this.#killAfter(this.#cut.afterMs)
    this.#cut = undefined
  }

  #killAfter(ms: number): void {
    if (ms === 0) this.client.child.kill('SIGKILL')
    else setTimeout(() => this.client.child.kill('SIGKILL'), ms)
  }

  async #allEnded(): Promise<void> {
    for (const { id } of this.#requests) await this.client.answerTo(id).catch(() => this.client.exited)
  }

  #servers() {
    const args = [new URL('appending-server.sh', import.meta.url).pathname, this.#scene.effects, `${this.#number}`]
    return [{ name: 'appending', command: '/bin/sh', args, env: [] }]
  }
}
