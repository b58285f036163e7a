/** The context of a session's model: what its memos fold to, the same after every restart. It only ever grows at its end. */
import type { Cursor } from '../../../../ports/journal.ts'
import type { ModelMessage, ModelToolCall, ModelToolResult, AssistantMessage } from '../../../../ports/model.ts'
import type { Turn } from '../../../../ports/agent.ts'

/** Of a token, in most languages at least. */
const LETTERS = 4

export class Context {
  /** Of the last memo. */
  place: Cursor = 0
  system = ''
  roots: readonly string[] = []
  spent: Spent = {}
  /** Tokens of the last step, prompt and answer; 0 while none is known. */
  used = 0
  /** Letters that came after it, or all where no provider has counted. */
  #uncounted = 0
  readonly told = new Set<string>()
  /** Characters of all memos: about what it takes of our memory. */
  size = 0
  /** Of what was asked before this process began, something may be nowhere but in the transcript. */
  mayLack = true
  #begun = false
  #settled = true
  /** What stood there before that which was asked last; undefined when it was made shorter since. */
  #before: readonly ModelMessage[] | undefined
  #messages: ModelMessage[] = []
  #calls: readonly ModelToolCall[] = []
  readonly #results = new Map<string, ModelToolResult>()

  /** Nothing was ever said to a model here. */
  get isNew(): boolean {
    return !this.#begun
  }

  /** The model has the last word: nothing was cut. */
  get isSettled(): boolean {
    return this.#settled
  }

  /** As they are sent; those that stood there before stand there again. */
  get messages(): readonly ModelMessage[] {
    const results = this.#calls.flatMap(({ id }) => this.#results.get(id) ?? [])
    return results.length === 0 ? [...this.#messages] : [...this.#messages, { role: 'tool', results }]
  }

  /** About how many tokens the next request has. */
  get likely(): number {
    return this.used + Math.ceil(this.#uncounted / LETTERS)
  }

  /** Calls of the last step that have no result yet, in their order. */
  get openCalls(): readonly ModelToolCall[] {
    return this.#calls.filter(({ id }) => !this.#results.has(id))
  }

  /** A memo that was taken already is passed over. */
  take(place: Cursor, memo: ContextEvent): void {
    if (place <= this.place) return
    this.place = place
    this.add(memo)
  }

  /** One that has no place so far: it is being stored. */
  add(memo: ContextEvent): void {
    this.size += JSON.stringify(memo).length
    switch (memo.kind) {
      case 'base':
        return this.#begin(memo)
      case 'asked':
        this.#before = this.messages
        this.#push(memo.messages)
        this.roots = memo.roots ?? this.roots
        this.#settled = false
        return
      case 'answered':
        return this.#answered(memo)
      case 'result':
        return this.#result(memo)
      case 'refused':
        return this.#refused()
    }
  }

  #begin({ system, roots, messages, told, spent, settled }: BaseMemo): void {
    this.size = 0
    this.#uncounted = system.length
    this.#begun = true
    this.system = system
    this.roots = roots
    this.spent = spent
    this.used = 0
    this.told.clear()
    for (const path of told) this.told.add(path)
    this.#messages = []
    this.#before = undefined
    this.#closeCalls()
    this.#push(messages)
    this.#settled = settled
  }

  #answered({ message, used, spent }: AnsweredMemo): void {
    this.used = used
    this.spent = spent
    this.#push(message === undefined ? [] : [message])
    // The answer was counted with its request.
    if (used > 0) this.#uncounted = 0
    this.#settled = this.#calls.length === 0
  }

  #result({ result, told = [] }: ResultMemo): void {
    this.#results.set(result.id, result)
    this.#uncounted += lettersOf(result)
    for (const path of told) this.told.add(path)
    this.#settled = false
  }

  #refused(): void {
    this.#messages = [...(this.#before ?? this.messages)]
    this.#closeCalls()
    this.#settled = true
  }

  #push(messages: readonly ModelMessage[]): void {
    this.#uncounted += messages.reduce((sum, message) => sum + lettersOf(message), 0)
    this.#messages = [...this.messages, ...messages]
    this.#closeCalls()
    const last = messages.at(-1)
    if (last?.role === 'assistant') this.#calls = last.parts.filter((part) => part.kind === 'call')
  }

  #closeCalls(): void {
    this.#calls = []
    this.#results.clear()
  }
}

/** Pictures and other data count for little: no provider counts their letters. */
function lettersOf(said: ModelMessage | ModelToolResult): number {
  return JSON.stringify(said, (key, value: unknown) => (key === 'data' || key === 'blob' ? '' : value)).length
}

/** Characters of all contexts together. */
const ROOM = 48 * 1024 * 1024

export class Contexts {
  /** The one used last stands last. */
  readonly #kept = new Map<string, Context>()
  readonly #room: number

  constructor(room = ROOM) {
    this.#room = room
  }

  /** As it is now: only what was kept since it was last here is read. */
  async of(turn: Turn): Promise<Context> {
    const context = this.#kept.get(turn.sessionId) ?? new Context()
    for await (const { cursor, data } of turn.readCheckpoints(context.place))
      if (isContextEvent(data)) context.take(cursor, data)
    this.#keep(turn.sessionId, context)
    return context
  }

  /** What the journal tells is read anew. */
  forget(session: string): void {
    this.#kept.delete(session)
  }

  #keep(session: string, context: Context): void {
    this.#kept.delete(session)
    this.#kept.set(session, context)
    let size = [...this.#kept.values()].reduce((sum, one) => sum + one.size, 0)
    for (const [id, one] of this.#kept) {
      if (size <= this.#room) return
      this.#kept.delete(id)
      size -= one.size
    }
  }
}

export type ContextEvent = BaseMemo | AskedMemo | AnsweredMemo | ResultMemo | RefusedMemo

/** Where the context begins: at the first prompt of the session, and again after each compaction. */
export interface BaseMemo {
  readonly agent: 'model'
  readonly kind: 'base'
  readonly system: string
  readonly roots: readonly string[]
  readonly messages: readonly ModelMessage[]
  /** Files of instructions that stand in `system` or were told in the conversation. */
  readonly told: readonly string[]
  readonly spent: Spent
  /** The model had the last word. */
  readonly settled: boolean
}

/** What is said to the model next; before it, what people saw of an answer that was cut. */
interface AskedMemo {
  readonly agent: 'model'
  readonly kind: 'asked'
  readonly messages: readonly ModelMessage[]
  readonly roots?: readonly string[]
}

/** A whole step of the model. */
interface AnsweredMemo {
  readonly agent: 'model'
  readonly kind: 'answered'
  /** Absent if it said nothing. */
  readonly message?: AssistantMessage
  /** Tokens of this step, prompt and answer. */
  readonly used: number
  readonly spent: Spent
}

/** The result of one call of the step before, as the model is given it. */
interface ResultMemo {
  readonly agent: 'model'
  readonly kind: 'result'
  readonly result: ModelToolResult
  readonly told?: readonly string[]
}

/** The provider refused: what was asked last, and all that followed, is not said to it again. */
interface RefusedMemo {
  readonly agent: 'model'
  readonly kind: 'refused'
}

/** What the session has cost so far, for each currency. */
export type Spent = Readonly<Record<string, number>>

/** Other agents of the session may have kept something too. */
function isContextEvent(memo: unknown): memo is ContextEvent {
  return typeof memo === 'object' && memo !== null && (memo as { readonly agent?: unknown }).agent === 'model'
}
