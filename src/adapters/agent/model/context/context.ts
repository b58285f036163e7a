/**
 * The context of a session's model, computed from its checkpoints, so that it is the same after every restart. It only
 * grows at its end. Also what one turn does with it: stores events, counts costs and lists tools.
 */
import type { Cursor } from '../../../../ports/journal.ts'
import type {
  ModelMessage,
  ModelToolCall,
  ModelToolResult,
  AssistantMessage,
  Model,
  Models,
  ModelPrice,
  ModelUsage,
  ModelTool,
} from '../../../../ports/model.ts'
import type { Turn } from '../../../../ports/agent.ts'
import type { Clock } from '../../../../ports/clock.ts'
import type { Tool, ToolList } from '../../../../ports/tools.ts'

/** Characters per token, roughly. */
const CHARS_PER_TOKEN = 4

/** Of its window, from which on a context counts as full: the rest is for the answer. */
const FULL_SHARE = 0.8

export class Context {
  /** The sequence number of the last event. */
  place: Cursor = 0
  system = ''
  roots: readonly string[] = []
  spent: Spent = {}
  /** Tokens of the last step, prompt and answer; 0 if unknown. */
  used = 0
  /** Characters that were added since, or all if no provider counted. */
  #uncounted = 0
  /** Instruction files that the model was given. */
  readonly announcedFiles = new Set<string>()
  /** Resources whose change the model knows of. */
  #announcedChanges: ReadonlySet<string> = new Set()
  /** Characters of all events: about the memory that the context takes. */
  size = 0
  /** A prompt from before this process began may be only in the transcript. */
  mayLack = true
  #begun = false
  #settled = true
  /** The length before the last prompt; undefined after a compaction. */
  #before: readonly ModelMessage[] | undefined
  #messages: ModelMessage[] = []
  #calls: readonly ModelToolCall[] = []
  readonly #results = new Map<string, ModelToolResult>()

  /** No model was ever asked in this session. */
  get isNew(): boolean {
    return !this.#begun
  }

  /** The model had the last word: nothing was cut. */
  get isSettled(): boolean {
    return this.#settled
  }

  /** The messages as they are sent; earlier ones stay the identical objects. */
  get messages(): readonly ModelMessage[] {
    const results = this.#calls.flatMap(({ id }) => this.#results.get(id) ?? [])
    return results.length === 0 ? [...this.#messages] : [...this.#messages, { role: 'tool', results }]
  }

  /** An estimate of the tokens of the next request. */
  get likely(): number {
    return this.used + Math.ceil(this.#uncounted / CHARS_PER_TOKEN)
  }

  /** Whether the next step of a model with this window would not leave enough room for an answer. */
  isFull(contextWindow: number): boolean {
    if (this.likely < contextWindow * FULL_SHARE) return false
    // An unanswered prompt is not old, and only the provider knows whether it is too long.
    return this.used > 0 || this.#messages.length >= 3
  }

  /** A note for the model about the resources that changed since it read them; undefined if it knows of all of them. */
  noteOfChanges({ resources }: Pick<ToolList, 'resources'>): string | undefined {
    const changed = resources.filter((one) => one.changed === true).map(({ server, uri }) => `${server} ${uri}`)
    const news = changed.filter((name) => !this.#announcedChanges.has(name))
    this.#announcedChanges = new Set(changed)
    if (news.length === 0) return undefined
    return `Changed since it was read, and to be read again with read_resource if it matters: ${news.join(', ')}`
  }

  /** Calls of the last step without a result, in their order. */
  get openCalls(): readonly ModelToolCall[] {
    return this.#calls.filter(({ id }) => !this.#results.has(id))
  }

  /** Adds a stored event; one that was added before is ignored. */
  take(place: Cursor, memo: ContextEvent): void {
    if (place <= this.place) return
    this.place = place
    this.add(memo)
  }

  /** Adds an event that is still being stored and has no place yet. */
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

  #begin({ system, roots, messages, told, spent, settled }: BaseEvent): void {
    this.size = 0
    this.#uncounted = system.length
    this.#begun = true
    this.system = system
    this.roots = roots
    this.spent = spent
    this.used = 0
    this.announcedFiles.clear()
    for (const path of told) this.announcedFiles.add(path)
    this.#messages = []
    this.#before = undefined
    this.#closeCalls()
    this.#push(messages)
    this.#settled = settled
  }

  #answered({ message, used, spent }: AnswerEvent): void {
    this.used = used
    this.spent = spent
    this.#push(message === undefined ? [] : [message])
    // The provider counted the answer with its request.
    if (used > 0) this.#uncounted = 0
    this.#settled = this.#calls.length === 0
  }

  #result({ result, told = [] }: ResultEvent): void {
    this.#results.set(result.id, result)
    this.#uncounted += charsOf(result)
    for (const path of told) this.announcedFiles.add(path)
    this.#settled = false
  }

  #refused(): void {
    this.#messages = [...(this.#before ?? this.messages)]
    this.#closeCalls()
    this.#settled = true
  }

  #push(messages: readonly ModelMessage[]): void {
    this.#uncounted += messages.reduce((sum, message) => sum + charsOf(message), 0)
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

/** Images and other data count little: providers do not count their characters. */
function charsOf(said: ModelMessage | ModelToolResult): number {
  return JSON.stringify(said, (key, value: unknown) => (key === 'data' || key === 'blob' ? '' : value)).length
}

/** Characters of all cached contexts together. */
const MAX_CACHED_CHARS = 48 * 1024 * 1024

export class Contexts {
  /** In order of use, the most recent last. */
  readonly #kept = new Map<string, Context>()
  readonly #room: number

  constructor(room = MAX_CACHED_CHARS) {
    this.#room = room
  }

  /** The current context: reads only the events since it was last used. */
  async of(turn: Turn): Promise<Context> {
    const context = this.#kept.get(turn.sessionId) ?? new Context()
    for await (const { cursor, data } of turn.readCheckpoints(context.place))
      if (isContextEvent(data)) context.take(cursor, data)
    this.#keep(turn.sessionId, context)
    return context
  }

  /** Drops a cached context, so that it is read from the journal again. */
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

type ContextEvent = BaseEvent | PromptEvent | AnswerEvent | ResultEvent | RefusalEvent

/** The beginning of the context: at the first prompt of the session, and again after each compaction. */
export interface BaseEvent {
  readonly agent: 'model'
  readonly kind: 'base'
  readonly system: string
  readonly roots: readonly string[]
  readonly messages: readonly ModelMessage[]
  /** Instruction files that are in `system` or were shown in the conversation. */
  readonly told: readonly string[]
  readonly spent: Spent
  /** The model had the last word. */
  readonly settled: boolean
}

/** The next messages to the model; before them, what users saw of an answer that was cut. */
interface PromptEvent {
  readonly agent: 'model'
  readonly kind: 'asked'
  readonly messages: readonly ModelMessage[]
  readonly roots?: readonly string[]
}

/** A complete step of the model. */
interface AnswerEvent {
  readonly agent: 'model'
  readonly kind: 'answered'
  /** Absent if the answer was empty. */
  readonly message?: AssistantMessage
  /** Tokens of this step, prompt and answer. */
  readonly used: number
  readonly spent: Spent
}

/** The result of one call of the step before, as the model gets it. */
interface ResultEvent {
  readonly agent: 'model'
  readonly kind: 'result'
  readonly result: ModelToolResult
  readonly told?: readonly string[]
}

/** The provider refused: the last prompt, and everything after it, is not sent again. */
interface RefusalEvent {
  readonly agent: 'model'
  readonly kind: 'refused'
}

/** The cost of the session so far, per currency. */
type Spent = Readonly<Record<string, number>>

/** Other agents of the session may have stored checkpoints too. */
function isContextEvent(memo: unknown): memo is ContextEvent {
  return typeof memo === 'object' && memo !== null && (memo as { readonly agent?: unknown }).agent === 'model'
}

export interface ModelAgentDeps {
  readonly models: Models
  /** The default model of a session. */
  readonly preset: string
  readonly clock: Clock
  readonly contexts: Contexts
  /** Maximum number of steps in a turn. */
  readonly maxSteps: number
  /** Whether the model writes titles for new sessions. */
  readonly titles: boolean
  /** The directory of the user's own prompt files. */
  readonly promptDirectory: string | undefined
}

export interface TurnWork {
  readonly turn: Turn
  readonly deps: ModelAgentDeps
  readonly context: Context
  /** The currently chosen model. */
  model(): Promise<Model>
}

/** Stores an event, then adds it to the context. */
export async function append({ turn, context }: TurnWork, memo: ContextEvent): Promise<void> {
  context.take(await store(turn, memo), memo)
}

/** Adds an event to the context at once and stores it. Until it resolves, nothing but a request may follow from the event. */
export async function appendOptimistic({ turn, context, deps: means }: TurnWork, memo: ContextEvent): Promise<void> {
  context.add(memo)
  try {
    context.place = await store(turn, memo, 'soon')
  } catch (error) {
    means.contexts.forget(turn.sessionId)
    throw error
  }
}

function store(turn: Turn, memo: ContextEvent, urgency: 'now' | 'soon' = 'now'): Promise<Cursor> {
  return turn.checkpoint(memo, memo.kind === 'base' ? 'reset' : undefined, urgency)
}

/** Shows a notice of Parley among the thoughts of the model, marked as such. */
export function showNotice({ turn }: TurnWork, text: string): Promise<void> {
  return turn.think({ type: 'text', text: `${text}\n`, meta: { 'parley/notice': true } })
}

/** Token counts after a step. */
interface StepUsage {
  /** Tokens of the step, prompt and answer. */
  readonly used: number
  readonly spent: Spent
}

const MILLION = 1_000_000

/** Adds the cost of a step. Steps with unknown prices add nothing. */
export function addCost(spent: Spent, usage: ModelUsage, price: ModelPrice | undefined): Spent {
  if (price === undefined) return spent
  const { currency } = price
  return { ...spent, [currency]: (spent[currency] ?? 0) + costOf(usage, price) }
}

function costOf({ input, output, cacheRead, cacheWrite }: ModelUsage, price: ModelPrice): number {
  const plain = Math.max(0, input - cacheRead - cacheWrite)
  const sum = plain * price.input + output * price.output + cacheRead * price.cacheRead + cacheWrite * price.cacheWrite
  return sum / MILLION
}

/** Shows how full the context is. Nothing is shown if the model's window is unknown. */
export async function reportUsage(
  { turn }: TurnWork,
  { used, spent }: StepUsage,
  size: number | undefined,
): Promise<void> {
  if (size === undefined) return
  const [cost] = Object.entries(spent).map(([currency, amount]) => ({ amount: rounded(amount), currency }))
  await turn.usage({ used, size, ...(cost !== undefined && { cost }) })
}

/** Removes floating-point noise. */
function rounded(amount: number): number {
  return Math.round(amount * 1e9) / 1e9
}

/** Sorted lists, cached per list of the registry. */
const sortedTools = new WeakMap<ToolList, readonly ModelTool[]>()

export function toolsFor(list: ToolList): readonly ModelTool[] {
  const known = sortedTools.get(list)
  if (known !== undefined) return known
  const tools = list.tools.flatMap(toolFor).sort((a, b) => (a.name < b.name ? -1 : 1))
  sortedTools.set(list, tools)
  return tools
}

function toolFor({ name, description, title, unsupportedReason, modelSchema }: Tool): readonly ModelTool[] {
  if (unsupportedReason !== undefined) return []
  return [{ name, description: description || title, schema: modelSchema ?? { type: 'object' } }]
}
