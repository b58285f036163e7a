/** The loop of the model agent: a step of the model, its tool calls, their results, the next step. Each is stored before the next begins. */
import type { StopReason, Turn } from '../../../../ports/agent.ts'
import type { ModelEnd, ModelMessage, Model, ModelRequest, SpokenPart } from '../../../../ports/model.ts'
import { toolsText } from '../../tools-text.ts'
import { closeOpenCalls, resumeCalls, runCalls, RepeatedFailureDetector } from './calls.ts'
import { type PromptIntent, isOwnCommand, promptIntentOf, commandsFor } from '../options/commands.ts'
import { compact, isTooLong } from '../context/compaction.ts'
import { instructionsOf } from '../context/instructions.ts'
import {
  type BaseEvent,
  type TurnWork,
  appendOptimistic,
  append,
  type ModelAgentDeps,
  addCost,
  reportUsage,
  showNotice,
  toolsFor,
} from '../context/context.ts'
import { withMentioned } from '../context/mentions.ts'
import { systemPrompt } from '../context/system-prompt.ts'
import { startTitle } from '../options/titles.ts'
import type { ToolList } from '../../../../ports/tools.ts'
import { readyTools } from '../../ready-tools.ts'
import type { Settings } from '../../../../ports/values/settings.ts'
import { pauseBefore } from './retry.ts'

export async function runTurn(turn: Turn, means: ModelAgentDeps): Promise<StopReason> {
  const { models, preset, contexts } = means
  const context = await contexts.of(turn)
  const work: TurnWork = { turn, deps: means, context, model: () => models.open(chosenModel(turn.settings, preset)) }
  // The provider's package loads while MCP servers connect; the first step reports its errors.
  void work.model().catch(() => undefined)
  const list = await readyTools(turn)
  const [stop] = await Promise.all([playTurn(work), offerCommands(work, list)])
  return stop
}

function chosenModel({ configOptions }: Settings, preset: string): string {
  const value = configOptions.find(({ id }) => id === 'model')?.currentValue
  return typeof value === 'string' ? value : preset
}

/** The request to the model goes out before the directories of prompt files are read. */
async function offerCommands({ turn, deps: means }: TurnWork, list: ToolList): Promise<void> {
  await means.clock.nextTick()
  await turn.offerCommands(await commandsFor(list, turn.roots, means))
}

async function playTurn(work: TurnWork): Promise<StopReason> {
  const { turn } = work
  if (turn.resumed !== undefined) {
    await resumeCalls(work, turn.resumed)
    return runSteps(work)
  }
  const wish = await promptIntentOf(work)
  if (wish.kind !== 'messages') return answerCommand(work, wish)
  await storePrompt(work, await withMentioned(turn, wish.messages))
  const titled = startTitle(work)
  const stop = await runSteps(work)
  await titled()
  return stop
}

async function runSteps(work: TurnWork): Promise<StopReason> {
  const { turn, context, deps: means } = work
  const failures = new RepeatedFailureDetector()
  if (context.openCalls.length > 0) await runCalls(work, failures)
  for (let step = 1; step <= means.maxSteps; step += 1) {
    if (turn.signal.aborted) return 'cancelled'
    await compactIfFull(work)
    const end = await takeStep(work)
    if (context.openCalls.length === 0) return endWith(work, stopOf(end))
    await runCalls(work, failures)
  }
  return turn.signal.aborted ? 'cancelled' : 'max_steps'
}

/** Compacts before a step whose context would not leave enough room for an answer. */
async function compactIfFull(work: TurnWork): Promise<void> {
  const { context } = work
  const { contextWindow = Infinity } = await work.model()
  if (!context.isFull(contextWindow)) return
  const percent = Math.round((context.likely / contextWindow) * 100)
  await compact(work, { keep: '', why: `The context is ${percent} % full` })
}

/** ACP: a refused prompt, and what followed it, is not part of the next turn. */
async function endWith(work: TurnWork, stop: StopReason): Promise<StopReason> {
  if (stop === 'refusal') await append(work, { agent: 'model', kind: 'refused' })
  return stop
}

function stopOf({ reason }: ModelEnd): StopReason {
  switch (reason) {
    case 'length':
      return 'max_tokens'
    case 'refusal':
      return 'refusal'
    default:
      return 'end_turn'
  }
}

/** Handles a prompt that needs no request to the model. */
async function answerCommand(
  work: TurnWork,
  wish: Exclude<PromptIntent, { readonly kind: 'messages' }>,
): Promise<StopReason> {
  const { turn, context } = work
  if (wish.kind === 'advice') await say(work, wish.text)
  else if (wish.name === 'tools') await say(work, toolsText(turn.tools.list()))
  else {
    await storeCut(work)
    const before = context.messages.length
    const isShorter = await compact(work, { keep: wish.rest })
    await say(work, isShorter ? compacted(before, context.messages.length) : 'There is nothing here to make shorter.')
  }
  return turn.signal.aborted ? 'cancelled' : 'end_turn'
}

/** Adds what was cut to the context, so that a summary includes it. */
async function storeCut(work: TurnWork): Promise<void> {
  const cut = await cutTurns(work)
  await closeOpenCalls(work)
  if (cut.notes.length === 0) return
  await append(work, { agent: 'model', kind: 'asked', messages: [...cut.messages, ...withNotes([], cut.notes)] })
}

function compacted(before: number, after: number): string {
  return `The model continues with a summary and the last messages: ${after} instead of ${before}. The transcript stays as it is.`
}

/**
 * Adds the prompt to the context, after the outcome of the turn before. The request goes out before the prompt is stored. What
 * the model says is stored behind it, at the earliest by the same disk write: if that fails, no client sees anything of the answer.
 */
async function storePrompt(work: TurnWork, said: readonly ModelMessage[]): Promise<void> {
  const { turn, context } = work
  const base = context.isNew ? await firstEvent(work) : undefined
  const cut = await cutTurns(work)
  await closeOpenCalls(work)
  const { roots } = turn
  const isMoved = JSON.stringify(roots) !== JSON.stringify((base ?? context).roots)
  const moved = isMoved ? [`The directories of this turn: ${roots.join(', ')}`] : []
  const notes = [...cut.notes, ...moved, ...[context.noteOfChanges(turn.tools.list()) ?? []].flat()]
  const messages = [...cut.messages, ...withNotes(said, notes)]
  const asked = { agent: 'model', kind: 'asked', messages, ...(isMoved && { roots }) } as const
  // Synchronously one after the other, so that they are one write.
  const stored = Promise.all([base ?? [], asked].flat().map((memo) => appendOptimistic(work, memo)))
  stored.catch(() => undefined)
}

async function firstEvent({ turn, deps: means }: TurnWork): Promise<BaseEvent> {
  const { roots } = turn
  const instructions = await instructionsOf({ roots, pathAccess: await turn.pathAccess() })
  const system = systemPrompt({ roots, now: means.clock.now(), instructions })
  const told = instructions.map(({ path }) => path)
  return { agent: 'model', kind: 'base', system, roots, messages: [], told, spent: {}, settled: true }
}

/** Puts the notes before the first message. */
function withNotes([first, ...others]: readonly ModelMessage[], notes: readonly string[]): readonly ModelMessage[] {
  const content = notes.map((text) => ({ type: 'text', text: `[${text}]` }) as const)
  if (first?.role === 'user') return [{ ...first, content: [...content, ...first.content] }, ...others]
  const before: readonly ModelMessage[] = content.length === 0 ? [] : [{ role: 'user', content }]
  return [...before, ...(first === undefined ? [] : [first]), ...others]
}

interface CutTurns {
  readonly messages: readonly ModelMessage[]
  readonly notes: readonly string[]
}

const UNANSWERED = 'The turn before was cut off before you had answered.'

/** The outcome of earlier turns: an answer that was cut, and prompts that a crash kept from the model. */
async function cutTurns(work: TurnWork): Promise<CutTurns> {
  const { messages, notes } = await cutAnswerOf(work)
  const unheard = await lostPrompts(work)
  if (unheard.length === 0) return { messages, notes }
  return { messages: [...messages, ...withNotes(unheard, notes)], notes: [UNANSWERED] }
}

/** A crash may come before a prompt is stored as a checkpoint; the user sees it in the transcript all the same. */
async function lostPrompts({ turn, context }: TurnWork): Promise<readonly ModelMessage[]> {
  if (!context.mayLack) return []
  const prompts = await turn.interruptedPromptsAfter(context.place)
  context.mayLack = false
  return prompts.filter((content) => !isOwnCommand(content)).map((content) => ({ role: 'user', content }))
}

/** The part of an interrupted answer that users saw. */
async function cutAnswerOf({ turn, context }: TurnWork): Promise<CutTurns> {
  if (context.isSettled) return { messages: [], notes: [] }
  const text = context.openCalls.length > 0 ? '' : await turn.assistantTextAfter(context.place)
  if (text === '') return { messages: [], notes: [UNANSWERED] }
  return {
    messages: [{ role: 'assistant', parts: [{ kind: 'text', text }] }],
    notes: ['Your answer was cut off here; people saw what stands above.'],
  }
}

function say({ turn }: TurnWork, text: string): Promise<void> {
  return turn.say({ type: 'text', text })
}

/** Calls that clients see while the model still writes them; further ones are not shown early. */
const MAX_ANNOUNCED_CALLS = 64

const CONTINUE_PROMPT = `[The connection broke here. What you said up to this point was shown. Go on exactly where it ended, without repeating it.]`

/** Throws the model's error when no further attempt makes sense. */
async function takeStep(work: TurnWork): Promise<ModelEnd> {
  let mayCompact = true
  for (let attempt = 1; ; attempt += 1) {
    const model = await work.model()
    const spoken = new StepStream(work)
    try {
      return await storeStep(work, model, await spoken.listen(model))
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

  async listen(model: Model): Promise<ModelEnd> {
    const request = { ...requestOf(this.#work, model), spoken: (part: SpokenPart) => this.#speak(part) }
    for await (const part of model.stream(request)) {
      switch (part.kind) {
        case 'text':
        case 'thought':
          await this.#speak(part)
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

  #speak({ kind, text, pieces }: SpokenPart): Promise<void> {
    const { turn } = this.#work
    if (kind === 'text') this.text += text
    if (pieces !== undefined) return turn.sayAll(kind === 'text' ? 'agent' : 'thought', pieces)
    return kind === 'text' ? turn.say({ type: 'text', text }) : turn.think({ type: 'text', text })
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

/** Undefined: the model chooses; also for a level that the model does not have. */
function chosenEffort({ configOptions }: Settings, efforts: readonly string[]): string | undefined {
  const value = configOptions.find(({ id }) => id === 'thought_level')?.currentValue
  return efforts.find((effort) => effort === value)
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
