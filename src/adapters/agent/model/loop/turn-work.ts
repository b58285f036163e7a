/** One turn of the model agent: what it works with, how it stores its context, counts costs and lists tools. */
import type { Turn } from '../../../../ports/agent.ts'
import type { Clock } from '../../../../ports/clock.ts'
import type { Cursor } from '../../../../ports/journal.ts'
import type { Model, Models, ModelPrice, ModelUsage, ModelTool } from '../../../../ports/model.ts'
import type { Context, Contexts } from '../context/context.ts'
import { type ContextEvent } from '../context/context.ts'
import type { Spent } from '../context/context.ts'
import type { Tool, ToolList } from '../../../../ports/tools.ts'

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
    context.place = await store(turn, memo)
  } catch (error) {
    means.contexts.forget(turn.sessionId)
    throw error
  }
}

function store(turn: Turn, memo: ContextEvent): Promise<Cursor> {
  return turn.checkpoint(memo, memo.kind === 'base' ? 'reset' : undefined)
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
