/** One step of the model: streams its answer to clients, and stores the whole message before anything follows from it. */
import type { Model, ModelEnd, ModelRequest } from '../../../../ports/model.ts'
import { compact, isTooLong } from '../context/compaction.ts'
import { addCost, reportUsage, type TurnWork, append, showNotice, toolsFor } from './turn-work.ts'
import { pauseBefore } from './retry.ts'
import { chosenEffort } from '../options/options.ts'
/** Calls that clients see while the model still writes them; further ones are not shown early. */
const MAX_ANNOUNCED_CALLS = 64

const CONTINUE_PROMPT = `[The connection broke here. What you said up to this point was shown. Go on exactly where it ended, without repeating it.]`

/** Shows nothing before the prompt is `stored`. Throws the model's error when no further attempt makes sense. */
export async function takeStep(work: TurnWork, stored?: Promise<unknown>): Promise<ModelEnd> {
  let mayCompact = true
  for (let attempt = 1; ; attempt += 1) {
    const model = await work.model()
    const spoken = new StepStream(work)
    try {
      return await storeStep(work, model, await spoken.listen(model, stored))
    } catch (error) {
      await spoken.takeBack()
      const isShorter =
        mayCompact &&
        isTooLong(error) &&
        (await compact(work, { keep: '', why: `The context is too long for ${model.name}` }))
      if (isShorter) mayCompact = false
      else await pauseBefore(work, { error, model: model.name, attempt })
      await storePartial(work, spoken.text)
    }
  }
}

/** The stream of one attempt, and how much of it clients have seen. */
class StepStream {
  text = ''
  readonly #work: TurnWork
  readonly #announced = new Set<string>()

  constructor(work: TurnWork) {
    this.#work = work
  }

  async listen(model: Model, stored?: Promise<unknown>): Promise<ModelEnd> {
    const { turn } = this.#work
    for await (const part of model.stream(requestOf(this.#work, model))) {
      await stored
      switch (part.kind) {
        case 'text':
          this.text += part.text
          await eachPiece(part, (text) => turn.say({ type: 'text', text }))
          break
        case 'thought':
          await eachPiece(part, (text) => turn.think({ type: 'text', text }))
          break
        case 'calling':
          await this.#announce(part.id, part.name)
          break
        case 'end':
          await this.#settle(part)
          return part
      }
    }
    throw new Error(`${model.name} ended its answer without an end`)
  }

  /** Withdraws calls that were shown but never completed. */
  async takeBack(): Promise<void> {
    await Promise.all([...this.#announced].map((id) => this.#withdraw(id)))
  }

  async #announce(id: string, name: string): Promise<void> {
    if (this.#announced.has(id) || this.#announced.size >= MAX_ANNOUNCED_CALLS) return
    this.#announced.add(id)
    const tool = this.#work.turn.tools.list().tools.find((one) => one.name === name)
    const title = tool?.title ?? name.slice(0, 200)
    await this.#work.turn.report(id, { title, name: name.slice(0, 200), status: 'pending' })
  }

  async #settle({ message }: ModelEnd): Promise<void> {
    for (const part of message.parts) if (part.kind === 'call') this.#announced.delete(part.id)
    await this.takeBack()
  }

  async #withdraw(id: string): Promise<void> {
    const content = [
      { type: 'content', content: { type: 'text', text: 'The model did not finish this call.' } },
    ] as const
    await this.#work.turn.report(id, { status: 'failed', content })
  }
}

/** Passes on each piece separately. */
async function eachPiece(
  { text, pieces = [text] }: { readonly text: string; readonly pieces?: readonly string[] },
  tell: (text: string) => Promise<void>,
): Promise<void> {
  await Promise.all(pieces.map(tell))
}

function requestOf({ turn, context }: TurnWork, { efforts }: Model): ModelRequest {
  const effort = chosenEffort(turn.settings, efforts)
  return {
    system: context.system,
    messages: context.messages,
    tools: toolsFor(turn.tools.list()),
    session: turn.sessionId,
    signal: turn.signal,
    ...(effort !== undefined && { effort }),
  }
}

async function storeStep(work: TurnWork, { name, price, contextWindow }: Model, end: ModelEnd): Promise<ModelEnd> {
  const { message, usage } = end
  const counted = { used: usage.input + usage.output, spent: addCost(work.context.spent, usage, price) }
  const said = message.parts.length === 0 ? {} : { message }
  if (isEmptyAnswer(end)) await showNotice(work, `${name} answered with nothing.`)
  const kept = append(work, { agent: 'model', kind: 'answered', ...said, ...counted })
  if (message.parts.some(({ kind }) => kind === 'call')) await kept
  else ignoreRejection(kept)
  // Some providers do not count tokens; then an estimate is shown.
  const used = counted.used > 0 ? counted.used : work.context.likely
  await reportUsage(work, { ...counted, used }, contextWindow)
  return end
}

/** An answer without anything visible. */
function isEmptyAnswer({ message, reason }: ModelEnd): boolean {
  if (reason === 'refusal' || reason === 'length') return false
  return message.parts.every((part) => part.kind === 'thought' || (part.kind === 'text' && part.text.trim() === ''))
}

/**
 * Behind the last answer of a turn stands only the end of the turn, in the order of the journal: one disk write serves
 * both. If it cannot be stored, the turn fails, and its end says so.
 */
function ignoreRejection(kept: Promise<void>): void {
  kept.catch(() => undefined)
}

/** Lets the model continue where clients saw the answer end; none of its calls had run. */
async function storePartial(work: TurnWork, text: string): Promise<void> {
  if (text === '') return
  const messages = [
    { role: 'assistant', parts: [{ kind: 'text', text }] },
    { role: 'user', content: [{ type: 'text', text: CONTINUE_PROMPT }] },
  ] as const
  await append(work, { agent: 'model', kind: 'asked', messages })
}
