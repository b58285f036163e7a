/** Compacts a context: a summary by its own model replaces the old messages. The journal keeps everything. */
import { isParleyError, reasonOf } from '../../../../errors/parley-error.ts'
import type { Model, ModelEnd, ModelMessage } from '../../../../ports/model.ts'
import { pauseBefore } from '../loop/retry.ts'
import { addCost, type TurnWork, append, showNotice, toolsFor } from './context.ts'
/** Characters of the newest messages that are kept unchanged. */
const RECENT_CHARS = 12_000

const SUMMARIZE = `Write a summary of this conversation that will stand in its place: you go on with nothing but it and the last messages.
Keep: what the user asked for, word for word where it matters, and what they decided or refused; what was done, with file paths and names; what was found out; what failed and why; what remains to be done, and the very next step.
Leave out what no longer matters. Call no tool. Write only the summary.`

const SUMMARY = 'What was said before was made short. This is its summary:'

const LEFT_OUT: ModelMessage = {
  role: 'user',
  content: [{ type: 'text', text: '[What was said first is left out here: it was too long.]' }],
}

export interface CompactOptions {
  /** The information that the user wants to keep, in the user's words. */
  readonly keep: string
  /** The reason that clients see; undefined if the user asked for it. */
  readonly why?: string
}

/**
 * False if there is nothing to compact, or if a summary failed that the user did not ask for; then the reason is shown and
 * the turn continues. Throws if a summary failed that the user asked for, and when the turn is cancelled.
 */
export async function compact(work: TurnWork, { keep, why }: CompactOptions): Promise<boolean> {
  const { turn, context } = work
  const recent = recentOf(context.messages)
  if (recent.length >= context.messages.length) return false
  if (why !== undefined) await showNotice(work, `${why}: making what is old shorter.`)
  const id = `${turn.turnId}-compaction-${context.place}`
  await turn.compact(id, { status: 'in_progress' })
  try {
    const { text, spent } = await summaryOf(work, { id, keep })
    const messages = [{ role: 'user', content: [{ type: 'text', text: `${SUMMARY}\n\n${text}` }] }, ...recent] as const
    const { system, roots, announcedFiles, isSettled } = context
    await append(work, {
      agent: 'model',
      kind: 'base',
      system,
      roots,
      messages,
      told: [...announcedFiles],
      spent,
      settled: isSettled,
    })
    await turn.compact(id, { status: 'completed' })
    return true
  } catch (error) {
    const status = turn.signal.aborted ? 'cancelled' : 'failed'
    await turn.compact(id, { status, ...(status === 'failed' && { error: reasonOf(error) }) })
    if (turn.signal.aborted || why === undefined) throw error
    await showNotice(work, `The summary failed: ${reasonOf(error)}`)
    return false
  }
}

interface SummaryRequest {
  readonly id: string
  readonly keep: string
}

/** A conversation that is too long to be summarised is cut from its beginning until it fits. */
async function summaryOf(work: TurnWork, summing: SummaryRequest) {
  const model = await work.model()
  let messages = work.context.messages
  for (let attempt = 1; ; attempt += 1) {
    try {
      const { message, usage } = await ask(work, model, { ...summing, messages })
      const text = message.parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('')
      if (text.trim() === '') throw new Error(`${model.name} wrote no summary`)
      return { text, spent: addCost(work.context.spent, usage, model.price) }
    } catch (error) {
      if (isTooLong(error) && messages.length > 2) messages = withoutBeginning(messages)
      else await pauseBefore(work, { error, model: model.name, attempt })
    }
  }
}

async function ask(
  { turn, context }: TurnWork,
  model: Model,
  { id, keep, messages }: SummaryRequest & { readonly messages: readonly ModelMessage[] },
): Promise<ModelEnd> {
  const wish = keep === '' ? SUMMARIZE : `${SUMMARIZE}\nAbove all keep: ${keep}`
  const request = {
    system: context.system,
    messages: [...messages, { role: 'user', content: [{ type: 'text', text: wish }] }] as const,
    // The same tools as in every step, so that the provider's cache stays valid.
    tools: toolsFor(turn.tools.list()),
    session: turn.sessionId,
    signal: turn.signal,
  }
  for await (const part of model.stream(request)) {
    if (part.kind === 'text') await turn.summarize(id, { type: 'text', text: part.text })
    if (part.kind === 'end') return part
  }
  throw new Error(`${model.name} ended its summary without an end`)
}

/** The newest messages; results never without their calls. */
function recentOf(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  let room = RECENT_CHARS
  let from = messages.length
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const message = messages[at]
    room -= JSON.stringify(message).length
    if (room < 0) break
    if (message?.role !== 'tool') from = at
  }
  return messages.slice(from)
}

function withoutBeginning(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  const half = messages.slice(Math.ceil(messages.length / 2))
  const from = half.findIndex(({ role }) => role !== 'tool')
  // Providers refuse a conversation that does not begin with a user message.
  return [LEFT_OUT, ...(from < 0 ? [] : half.slice(from))]
}

export function isTooLong(error: unknown): boolean {
  return isParleyError(error, 'MODEL_CONTEXT')
}
