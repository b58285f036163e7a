/** A simulated client's end of one connection: what it asked and what came back, kept for judgement. */
import { type Fields, type Message, type SeenUpdate, updateIn } from '../e2e/message.ts'
import type { Oversight } from './oversight.ts'
import { View, isOfState } from './view.ts'
import type { SimWire } from './wire.ts'

/** A request of the client. */
export interface Asked {
  readonly id: number
  readonly method: string
  readonly sessionId: string
  readonly params: Fields
  readonly answers: Message[]
  /** A prompt: its words, which are its own, and its id if it was given one. */
  readonly words?: string
  readonly promptId?: string
  /** A prompt of a former connection that this opening took along. */
  adoptedBy?: Asked
}

/** A permission request of the server. */
export interface Question {
  readonly id: Message['id']
  readonly sessionId: string
  readonly toolCallId: string
  readonly optionIds: readonly string[]
  replies: number
  withdrawals: number
}

const OPENINGS: ReadonlySet<string> = new Set(['session/new', 'session/load', 'session/resume'])

export class Link {
  readonly wire: SimWire
  readonly asked: Asked[] = []
  readonly questions: Question[] = []
  readonly views: View[] = []
  /** What the client did with its prompts shows whose words are its own. */
  readonly #oversight: Oversight
  readonly #current = new Map<string, View>()
  isReading = true
  isWriting = true
  isInitialized = false

  constructor(wire: SimWire, oversight: Oversight) {
    this.wire = wire
    this.#oversight = oversight
  }

  get isOpen(): boolean {
    return !this.wire.isClosed
  }

  current(sessionId: string): View | undefined {
    return this.#current.get(sessionId)
  }

  get attached(): readonly string[] {
    return [...this.#current.keys()]
  }

  /** A request that opens this session and has had no answer. */
  opening(sessionId: string): Asked | undefined {
    return this.asked.find(
      ({ method, sessionId: id, answers }) => id === sessionId && OPENINGS.has(method) && answers.length === 0,
    )
  }

  /** It has not heard yet how its new session is called. */
  get isCreating(): boolean {
    return this.asked.some(({ method, answers }) => method === 'session/new' && answers.length === 0)
  }

  ask(asked: Asked): void {
    this.asked.push(asked)
    const { id, method, params } = asked
    this.write({ id, method, params })
  }

  write(message: Fields): void {
    this.wire.write(JSON.stringify({ jsonrpc: '2.0', ...message }))
  }

  /** Bytes cross in both directions, where nobody keeps them from it. */
  carry(writes = Number.MAX_SAFE_INTEGER): void {
    if (this.isWriting) this.wire.deliverUp()
    if (this.isReading) this.read(writes)
  }

  read(writes: number): void {
    for (const message of this.#oversight.parse(this.wire.read(writes))) this.#hear(message)
  }

  #hear(message: Message): void {
    const seen = updateIn(message)
    if (seen !== undefined) return this.#see(seen)
    if (message.method === 'session/request_permission') return this.#question(message)
    if (message.method === '$/cancel_request') return this.#withdrawn(message.params?.['requestId'])
    if (message.method === undefined) this.#answered(message)
  }

  #see(seen: SeenUpdate): void {
    const { sessionId, seq } = seen
    const opening = this.opening(sessionId)
    const current = this.current(sessionId)
    const isReplay = opening?.method === 'session/load' && current?.replaying !== true
    if (isReplay && (current === undefined || (seq <= current.cursor && !isOfState(seen)))) this.#begin(opening, true)
    const view = this.current(sessionId)
    // A resume tells the state before its response.
    if (view === undefined && opening !== undefined && isOfState(seen)) return
    if (view === undefined)
      return this.#oversight.found(4, `an update of ${sessionId}, which the client has not opened`)
    view.see(seen, opening?.method === 'session/load')
  }

  #begin({ sessionId, params }: Asked, replaying: boolean, head = 0): View {
    const former = this.current(sessionId)
    if (former !== undefined) former.isOver = true
    const after = (params['_meta'] as Fields | undefined)?.['parley/after'] ?? head
    const view = new View(sessionId, Number(after), replaying)
    this.views.push(view)
    this.#current.set(sessionId, view)
    return view
  }

  #answered(message: Message): void {
    const asked = this.asked.find(({ id }) => id === message.id)
    if (asked === undefined)
      return this.#oversight.found(2, `an answer to what nobody asked: ${JSON.stringify(message)}`)
    asked.answers.push(message)
    if (asked.answers.length > 1)
      this.#oversight.found(
        2,
        `${asked.method} ${asked.id} of ${asked.sessionId} is answered ${asked.answers.length} times`,
      )
    if (asked.method === 'initialize') this.isInitialized = true
    if (asked.method === 'session/prompt') this.current(asked.sessionId)?.told.push({ kind: 'answer', request: asked })
    if (message.result === undefined) return this.#failed(asked)
    if (OPENINGS.has(asked.method)) this.#opened(asked, message.result)
    if (asked.method === 'session/close' || asked.method === 'session/delete') this.#left(asked.sessionId)
  }

  #opened(asked: Asked, result: Fields): void {
    const sessionId = asked.method === 'session/new' ? String(result['sessionId']) : asked.sessionId
    if (asked.method === 'session/load') {
      const view = this.current(sessionId)
      // Where nothing came twice, what was open before has seen nothing of what the load told: the one goes on as the other.
      if (view === undefined) this.#begin(asked, false)
      else view.replaying = false
      return
    }
    const head = Number((result['_meta'] as Fields | undefined)?.['parley/seq'] ?? 0)
    this.#begin({ ...asked, sessionId }, false, head)
  }

  /** What it had open may be open still, or not. */
  #failed({ method, sessionId }: Asked): void {
    const view = this.current(sessionId)
    if (OPENINGS.has(method) && view !== undefined) view.isOver = true
  }

  #left(sessionId: string): void {
    const view = this.current(sessionId)
    if (view !== undefined) [view.isOver, view.isLeft] = [true, true]
    this.#current.delete(sessionId)
  }

  #question({ id, params }: Message): void {
    const { sessionId, toolCall, options } = params as {
      readonly sessionId: string
      readonly toolCall: { readonly toolCallId: string }
      readonly options: readonly { readonly optionId: string }[]
    }
    if (this.questions.some((question) => question.id === id)) this.#oversight.found(5, `question ${id} is asked twice`)
    const optionIds = options.map(({ optionId }) => optionId)
    this.questions.push({ id, sessionId, toolCallId: toolCall.toolCallId, optionIds, replies: 0, withdrawals: 0 })
  }

  #withdrawn(id: unknown): void {
    const question = this.questions.find((one) => one.id === id)
    if (question === undefined) return this.#oversight.found(5, `${String(id)} is withdrawn and was never asked`)
    question.withdrawals += 1
    if (question.withdrawals > 1) this.#oversight.found(5, `${String(id)} is withdrawn twice`)
  }
}
