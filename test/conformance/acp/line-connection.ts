/** A raw client of the conformance cases: all that goes either way is recorded, and a fault is put between if one is wanted. */
import type { Readable, Writable } from 'node:stream'
import type { Fields, Message } from '../../e2e/message.ts'
import { RawConnection } from '../../wire/raw-connection.ts'
import { type Mutant, Mutation, type Tally } from './mutant.ts'
import { type Entry, type Transcript, fieldsOf } from './record.ts'
import { Fault } from './verdict.ts'

export interface Ends {
  readonly input: Writable
  readonly output: Readable
  /** Resolves when the agent has closed its side. */
  readonly closed: Promise<void>
  /** Ends the process or the socket, however it takes that. Whether it ended by itself. */
  end(): Promise<boolean>
  stderr?(): string
}

/** What the client answers to the agent's own requests, by their method; undefined is left for the case to answer. */
export type Answers = Readonly<Record<string, (params: Fields, message: Message) => Fields | undefined>>

interface Manner {
  readonly mutant: Mutant | undefined
  readonly tally: Tally
  /** Milliseconds that an answer may take. */
  readonly patience: number
  /** What came of a line while another had the connection. */
  readonly rest?: string
}

/** Milliseconds that an answer may still take once a fault was put in. */
const AFTER_FAULT = 4000

/** Ids differ on all connections: an agent may serve several cases, one after the other. */
let lastId = 0

export class LineConnection extends RawConnection {
  readonly ends: Ends
  readonly mutation: Mutation
  readonly #entries: Entry[] = []
  readonly #impurities: string[] = []
  readonly #patience: number
  /** A fault that is in can only take an answer away: nobody need wait for that as long as for a slow machine. */
  readonly #hasFault: () => boolean
  answers: Answers = {}
  shared = false
  offered: Fields = {}

  constructor(ends: Ends, { mutant, tally, patience, rest = '' }: Manner) {
    super(ends.input, ends.output, rest)
    this.ends = ends
    this.#patience = patience
    this.#hasFault = () => mutant !== undefined && tally.fired
    this.mutation = new Mutation(mutant, tally)
    void ends.closed.then(() => this.finish())
  }

  get transcript(): Transcript {
    return { entries: this.#entries, impurities: this.#impurities, shared: this.shared, offered: this.offered }
  }

  /** How many entries there are; a place to look from. */
  get mark(): number {
    return this.#entries.length
  }

  since(mark: number): Transcript {
    return { ...this.transcript, entries: this.#entries.slice(mark) }
  }

  /** Whether every request has its answer: nothing is left over for the next. */
  get isSettled(): boolean {
    const answered = new Set(this.received.filter(({ method }) => method === undefined).map(({ id }) => id))
    return this.#entries.every(({ from, message: { id, method } }) => {
      const isRequest = from === 'client' && method !== undefined && id !== undefined
      return !isRequest || answered.has(id)
    })
  }

  override send(message: Fields): void {
    const whole = { jsonrpc: '2.0', ...message }
    const raw = JSON.stringify(whole)
    // As it went over the wire: what a caller changes later changes no record.
    const sent = JSON.parse(raw) as Message
    this.#entries.push({ from: 'client', message: sent, raw })
    this.write(`${raw}\n`)
    this.#takeAll(this.mutation.sent(sent))
  }

  /** Bytes of our own that are a message after all. */
  rawMessage(message: Fields & { readonly id: Message['id'] }, bytes: (string | Uint8Array)[]): Promise<Message> {
    const sent = { jsonrpc: '2.0', ...message } as Message
    this.#entries.push({ from: 'client', message: sent, raw: '' })
    this.mutation.sent(sent)
    for (const piece of bytes) this.write(piece)
    return this.answerTo(message.id)
  }

  /** Closes our side. Whether the agent ends by itself then. */
  async leave(): Promise<boolean> {
    const byItself = await this.ends.end()
    return byItself && this.mutation.lingering === 0
  }

  /** Sends a request and gives its id. */
  begin(method: string, params?: Fields, id: Message['id'] = (lastId += 1)): Message['id'] {
    this.send({ id, method, params })
    return id
  }

  override request(method: string, params?: Fields, id?: Message['id']): Promise<Message> {
    return this.answerTo(this.begin(method, params, id), method)
  }

  override answerTo(id: Message['id'], what = 'the request'): Promise<Message> {
    const answer = this.until((message) => message.id === id && message.method === undefined, `an answer to ${what}`)
    // A case may end, or fail elsewhere, while its request is open: that is no failure of the whole run.
    answer.catch(() => undefined)
    return answer
  }

  override async until(fits: (message: Message) => boolean, what = 'what was waited for'): Promise<Message> {
    const begun = performance.now()
    let spoilt: number | undefined
    for (let from = 0; ;) {
      const found = this.received.slice(from).find(fits)
      if (found !== undefined) return found
      from = this.received.length
      if (this.isEnded) throw new Fault(`the agent ended without ${what}`)
      const now = performance.now()
      if (this.#hasFault()) spoilt ??= now
      const end = Math.min(begun + this.#patience, (spoilt ?? Infinity) + AFTER_FAULT)
      if (now >= end) throw new Fault(`no ${what} within ${Math.round(end - begun) / 1000} s`)
      await this.anythingWithin(end - now)
    }
  }

  /** Resolves with the next bytes, the end, or when the time is over. */
  async anythingWithin(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)))
    await Promise.race([this.anything(), late])
    clearTimeout(timer)
  }

  /** Lets the agent say what it has not said, for that silence is what is looked at. */
  async quiet(ms = 60): Promise<void> {
    const end = performance.now() + ms
    for (let left = ms; left > 0 && !this.isEnded; left = end - performance.now()) await this.anythingWithin(left)
  }

  protected override take(line: string): void {
    this.#takeAll(this.mutation.lines(line))
  }

  /** A fault may have put a line break into a line. */
  #takeAll(lines: readonly string[]): void {
    for (const line of lines) for (const part of line.split('\n')) super.take(part)
  }

  protected override heard(message: Message, raw: string): void {
    this.#entries.push({ from: 'agent', message, raw })
    super.heard(message, raw)
    if (message.method !== undefined && message.id !== undefined) this.#serve(message)
  }

  protected override impure(line: string): void {
    // Kept for the checks to complain of.
    this.#impurities.push(line.slice(0, 300))
  }

  #serve(message: Message): void {
    const { id = null, method = '', params = {} } = message
    const answer = this.answers[method]
    if (answer === undefined) return this.send({ id, error: { code: -32601, message: `Method not found: ${method}` } })
    const result = answer(params, message)
    if (result === undefined) return
    this.send('error' in result ? { id, error: fieldsOf(result['error']) } : { id, result })
  }
}
