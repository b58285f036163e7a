/** One turn of the model agent: what it works with, and how it keeps each step before the next begins. */
import { backoffMs } from '../../../../async/backoff.ts'
import type { Turn } from '../../../../ports/agent.ts'
import type { Clock } from '../../../../ports/clock.ts'
import type { Cursor } from '../../../../ports/journal.ts'
import type { Model, Models, ModelPrice, ModelUsage, ModelTool } from '../../../../ports/model.ts'
import type { Context, Contexts } from '../context/context.ts'
import { type ContextEvent } from '../context/context.ts'
import { isParleyError } from '../../../../errors/parley-error.ts'
import type { Spent } from '../context/context.ts'
import type { Tool, ToolList } from '../../../../ports/tools.ts'

export interface ModelAgentDeps {
  readonly models: Models
  /** The model of a session in which nobody has chosen one. */
  readonly preset: string
  readonly clock: Clock
  readonly contexts: Contexts
  /** Steps of the model that a turn may have. */
  readonly maxSteps: number
  /** The model gives new sessions their titles. */
  readonly titles: boolean
  /** Where the user's own prompt files are. */
  readonly promptDirectory: string | undefined
}

export interface TurnWork {
  readonly turn: Turn
  readonly means: ModelAgentDeps
  readonly context: Context
  /** As people have chosen by now. */
  model(): Promise<Model>
}

/** Stored when it resolves, and part of the context from then on. */
export async function append({ turn, context }: TurnWork, memo: ContextEvent): Promise<void> {
  context.take(await store(turn, memo), memo)
}

/** Part of the context at once, and stored when it resolves: until then nothing may follow from it but a request. */
export async function appendOptimistic({ turn, context, means }: TurnWork, memo: ContextEvent): Promise<void> {
  context.add(memo)
  try {
    context.place = await store(turn, memo)
  } catch (error) {
    means.contexts.forget(turn.sessionId)
    throw error
  }
}

function store(turn: Turn, memo: ContextEvent): Promise<Cursor> {
  return turn.checkpoint(memo, memo.kind === 'base' ? 'reset' : undefined)
}

/** What we have to tell ourselves, among the thoughts of the model; the mark tells them apart. */
export function think({ turn }: TurnWork, text: string): Promise<void> {
  return turn.think({ type: 'text', text: `${text}\n`, meta: { 'parley/notice': true } })
}

/** Of one step, the first included. */
const ATTEMPTS = 6

const FIRST_PAUSE = 1_000
const LONGEST_PAUSE = 60_000
/** Whoever starts a server that is not there yet has these many attempts of a second each; everyone else is told at once. */
const ATTEMPTS_FOR_ABSENT = 3
/** Whoever is told to come back later than this is better told to go. Milliseconds. */
const PATIENCE = 5 * 60_000

const PASSING: Readonly<Record<string, (model: string) => string>> = {
  MODEL_RATE_LIMIT: (model) => `Rate limited by ${model}`,
  MODEL_OVERLOADED: (model) => `${model} is overloaded`,
  MODEL_NETWORK: (model) => `${model} could not be reached`,
  MODEL_ABSENT: (model) => `${model} is not there`,
  MODEL_STREAM: (model) => `The answer of ${model} broke off`,
  MODEL_IDLE: (model) => `${model} went silent`,
}

interface Failed {
  readonly error: unknown
  readonly model: string
  /** From 1. */
  readonly attempt: number
}

/** Waits before another attempt; throws the error if there is no point in one, and when the turn is cancelled. */
export async function pauseBefore(work: TurnWork, { error, model, attempt }: Failed): Promise<void> {
  const what = isParleyError(error) ? PASSING[error.code]?.(model) : undefined
  const isAbsent = isParleyError(error, 'MODEL_ABSENT')
  const attempts = isAbsent ? ATTEMPTS_FOR_ABSENT : ATTEMPTS
  const pause = isAbsent ? FIRST_PAUSE : pauseOf(error, attempt)
  if (what === undefined || attempt >= attempts || pause > PATIENCE || work.turn.signal.aborted) throw error
  const seconds = Math.ceil(pause / 1000)
  await think(work, `${what}; trying again in ${seconds} s (${attempt + 1} of ${attempts}).`)
  await work.means.clock.sleep(pause, work.turn.signal)
}

function pauseOf(error: unknown, attempt: number): number {
  const told = isParleyError(error) ? (error.details as { readonly retryAfterMs?: number }).retryAfterMs : undefined
  return told ?? backoffMs(attempt, { firstMs: FIRST_PAUSE, longestMs: LONGEST_PAUSE })
}

/** After a step. */
interface Counted {
  /** Tokens of it, prompt and answer. */
  readonly used: number
  readonly spent: Spent
}

const MILLION = 1_000_000

/** Unknown prices add nothing: the sum is what is known to have been spent. */
export function spentWith(spent: Spent, usage: ModelUsage, price: ModelPrice | undefined): Spent {
  if (price === undefined) return spent
  const { currency } = price
  return { ...spent, [currency]: (spent[currency] ?? 0) + costOf(usage, price) }
}

function costOf({ input, output, cacheRead, cacheWrite }: ModelUsage, price: ModelPrice): number {
  const plain = Math.max(0, input - cacheRead - cacheWrite)
  const sum = plain * price.input + output * price.output + cacheRead * price.cacheRead + cacheWrite * price.cacheWrite
  return sum / MILLION
}

/** Nothing where the window of the model is not known: a share of it is what is told. */
export async function tellUsage({ turn }: TurnWork, { used, spent }: Counted, size: number | undefined): Promise<void> {
  if (size === undefined) return
  const [cost] = Object.entries(spent).map(([currency, amount]) => ({ amount: rounded(amount), currency }))
  await turn.usage({ used, size, ...(cost !== undefined && { cost }) })
}

/** Sums of small fractions end in noise. */
function rounded(amount: number): number {
  return Math.round(amount * 1e9) / 1e9
}

/** Same list, same answer: a long one is put in order once. */
const told = new WeakMap<ToolList, readonly ModelTool[]>()

export function toolsFor(list: ToolList): readonly ModelTool[] {
  const known = told.get(list)
  if (known !== undefined) return known
  const tools = list.tools.flatMap(toolFor).sort((a, b) => (a.name < b.name ? -1 : 1))
  told.set(list, tools)
  return tools
}

function toolFor({ name, description, title, unsupportedReason, modelSchema }: Tool): readonly ModelTool[] {
  if (unsupportedReason !== undefined) return []
  return [{ name, description: description || title, schema: modelSchema ?? { type: 'object' } }]
}
