/** One step of the model: what it says is passed on as it comes, and the whole of it is kept before anything follows from it. */
import type { Model, ModelEnd, ModelRequest } from '../../../../ports/model.ts'
import { compact, isTooLong } from '../context/compaction.ts'
import { spentWith, tellUsage, pauseBefore, type TurnWork, append, think, toolsFor } from './work.ts'
import { chosenEffort } from '../options/options.ts'
/** Calls that are shown while they are being written; a model that wants a thousand is not shown to want them. */
const ANNOUNCED = 64

const GO_ON = `[The connection broke here. What you said up to this point was shown. Go on exactly where it ended, without repeating it.]`

/** Nothing is told before what was asked is `stored`. Throws what the model threw once there is no point in another attempt. */
export async function takeStep(work: TurnWork, stored?: Promise<unknown>): Promise<ModelEnd> {
  let mayCompact = true
  for (let attempt = 1; ; attempt += 1) {
    const model = await work.model()
    const spoken = new Spoken(work)
    try {
      return await keep(work, model, await spoken.listen(model, stored))
    } catch (error) {
      await spoken.takeBack()
      const isShorter =
        mayCompact &&
        isTooLong(error) &&
        (await compact(work, { keep: '', why: `The context is too long for ${model.name}` }))
      if (isShorter) mayCompact = false
      else await pauseBefore(work, { error, model: model.name, attempt })
      await keepPartial(work, spoken.text)
    }
  }
}

/** What is being said in one attempt, and how much of it people have seen. */
class Spoken {
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
          await each(part, (text) => turn.say({ type: 'text', text }))
          break
        case 'thought':
          await each(part, (text) => turn.think({ type: 'text', text }))
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

  /** The calls that were begun and never made. */
  async takeBack(): Promise<void> {
    await Promise.all([...this.#announced].map((id) => this.#withdraw(id)))
  }

  async #announce(id: string, name: string): Promise<void> {
    if (this.#announced.has(id) || this.#announced.size >= ANNOUNCED) return
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

/** Each piece is told as it was said. */
async function each(
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

async function keep(work: TurnWork, { name, price, contextWindow }: Model, end: ModelEnd): Promise<ModelEnd> {
  const { message, usage } = end
  const counted = { used: usage.input + usage.output, spent: spentWith(work.context.spent, usage, price) }
  const said = message.parts.length === 0 ? {} : { message }
  if (isNothing(end)) await think(work, `${name} answered with nothing.`)
  const kept = append(work, { agent: 'model', kind: 'answered', ...said, ...counted })
  if (message.parts.some(({ kind }) => kind === 'call')) await kept
  else leave(kept)
  // Some providers do not count: people are told about how much it is.
  const used = counted.used > 0 ? counted.used : work.context.likely
  await tellUsage(work, { ...counted, used }, contextWindow)
  return end
}

/** An answer that people would see nothing of, and not know why. */
function isNothing({ message, reason }: ModelEnd): boolean {
  if (reason === 'refusal' || reason === 'length') return false
  return message.parts.every((part) => part.kind === 'thought' || (part.kind === 'text' && part.text.trim() === ''))
}

/**
 * Behind a last answer stands nothing but the end of its turn, in the order of the journal: one write of the disk serves
 * both. What cannot be stored breaks the turn, as it does for what was said, and its end says so.
 */
function leave(kept: Promise<void>): void {
  kept.catch(() => undefined)
}

/** The same step goes on where people saw it end; nothing of it had run yet. */
async function keepPartial(work: TurnWork, text: string): Promise<void> {
  if (text === '') return
  const messages = [
    { role: 'assistant', parts: [{ kind: 'text', text }] },
    { role: 'user', content: [{ type: 'text', text: GO_ON }] },
  ] as const
  await append(work, { agent: 'model', kind: 'asked', messages })
}
