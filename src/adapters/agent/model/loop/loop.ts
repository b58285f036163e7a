/** The loop of the model agent: a step of the model, its calls, their results, the next step; each kept before the next begins. */
import type { StopReason } from '../../../../ports/agent.ts'
import type { ModelEnd, ModelMessage } from '../../../../ports/model.ts'
import { toolsText } from '../../tools-text.ts'
import { closeOpenCalls, goOnWithCalls, runCalls, RepeatedFailureDetector } from './calls.ts'
import { type Wish, isOwnCommand, wishOf } from '../options/commands.ts'
import { compact, compactIfFull } from '../context/compaction.ts'
import { instructionsOf } from '../context/instructions.ts'
import type { BaseMemo } from '../context/context.ts'
import { takeStep } from './step.ts'
import { changesFor, withMentioned } from '../context/mentions.ts'
import { systemPrompt } from '../context/system-prompt.ts'
import { entitle } from '../options/titles.ts'
import { type TurnWork, appendOptimistic, append } from './work.ts'

export async function playTurn(work: TurnWork): Promise<StopReason> {
  const { turn } = work
  if (turn.resumed !== undefined) {
    await goOnWithCalls(work, turn.resumed)
    return steps(work)
  }
  const wish = await wishOf(work)
  if (wish.kind !== 'messages') return answer(work, wish)
  const { stored } = await hear(work, await withMentioned(turn, wish.messages))
  const titled = entitle(work)
  const stop = await steps(work, stored)
  await titled()
  return stop
}

/** `stored`: what was asked last is. */
async function steps(work: TurnWork, stored?: Promise<unknown>): Promise<StopReason> {
  const { turn, context, means } = work
  const failures = new RepeatedFailureDetector()
  if (context.openCalls.length > 0) await runCalls(work, failures)
  for (let step = 1; step <= means.maxSteps; step += 1) {
    if (turn.signal.aborted) return 'cancelled'
    await compactIfFull(work)
    const end = await takeStep(work, stored)
    if (context.openCalls.length === 0) return ended(work, stopOf(end))
    await runCalls(work, failures)
  }
  return turn.signal.aborted ? 'cancelled' : 'max_steps'
}

/** ACP: the message that was refused, and what followed it, is no part of the next turn. */
async function ended(work: TurnWork, stop: StopReason): Promise<StopReason> {
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

/** What needs no answer of the model. */
async function answer(work: TurnWork, wish: Exclude<Wish, { readonly kind: 'messages' }>): Promise<StopReason> {
  const { turn, context } = work
  if (wish.kind === 'advice') await say(work, wish.text)
  else if (wish.name === 'tools') await say(work, toolsText(turn.tools.list()))
  else {
    await tellOfCut(work)
    const before = context.messages.length
    const isShorter = await compact(work, { keep: wish.rest })
    await say(work, isShorter ? compacted(before, context.messages.length) : 'There is nothing here to make shorter.')
  }
  return turn.signal.aborted ? 'cancelled' : 'end_turn'
}

/** What was cut must not be lost in a summary. */
async function tellOfCut(work: TurnWork): Promise<void> {
  const cut = await cutBefore(work)
  await closeOpenCalls(work)
  if (cut.notes.length === 0) return
  await append(work, { agent: 'model', kind: 'asked', messages: [...cut.messages, ...noted([], cut.notes)] })
}

function compacted(before: number, after: number): string {
  return `The model goes on with a summary and the last messages: ${after} instead of ${before}. The transcript stays as it is.`
}

/**
 * What was asked becomes part of the context, after what became of the turn before. The model is asked while that is being
 * stored: should it not be, nobody has heard anything of its answer.
 */
async function hear(work: TurnWork, said: readonly ModelMessage[]): Promise<{ readonly stored: Promise<unknown> }> {
  const { turn, context } = work
  const base = context.isNew ? await beginning(work) : undefined
  const cut = await cutBefore(work)
  await closeOpenCalls(work)
  const { roots } = turn
  const isMoved = JSON.stringify(roots) !== JSON.stringify((base ?? context).roots)
  const moved = isMoved ? [`The directories of this turn: ${roots.join(', ')}`] : []
  const notes = [...cut.notes, ...moved, ...[changesFor(work) ?? []].flat()]
  const messages = [...cut.messages, ...noted(said, notes)]
  const asked = { agent: 'model', kind: 'asked', messages, ...(isMoved && { roots }) } as const
  // In one breath, and so in one write.
  const stored = Promise.all([base ?? [], asked].flat().map((memo) => appendOptimistic(work, memo)))
  stored.catch(() => undefined)
  return { stored }
}

async function beginning({ turn, means }: TurnWork): Promise<BaseMemo> {
  const { roots } = turn
  const instructions = await instructionsOf({ roots, bars: await turn.pathAccess() })
  const system = systemPrompt({ roots, now: means.clock.now(), instructions })
  const told = instructions.map(({ path }) => path)
  return { agent: 'model', kind: 'base', system, roots, messages: [], told, spent: {}, settled: true }
}

/** Ahead of the first words. */
function noted([first, ...others]: readonly ModelMessage[], notes: readonly string[]): readonly ModelMessage[] {
  const content = notes.map((text) => ({ type: 'text', text: `[${text}]` }) as const)
  if (first?.role === 'user') return [{ ...first, content: [...content, ...first.content] }, ...others]
  const before: readonly ModelMessage[] = content.length === 0 ? [] : [{ role: 'user', content }]
  return [...before, ...(first === undefined ? [] : [first]), ...others]
}

interface Cut {
  readonly messages: readonly ModelMessage[]
  readonly notes: readonly string[]
}

const UNANSWERED = 'The turn before was cut off before you had answered.'

/** What became of the turns before: an answer that was cut, and what a crash kept from being asked at all. */
async function cutBefore(work: TurnWork): Promise<Cut> {
  const { messages, notes } = await cutAnswer(work)
  const unheard = await unheardBefore(work)
  if (unheard.length === 0) return { messages, notes }
  return { messages: [...messages, ...noted(unheard, notes)], notes: [UNANSWERED] }
}

/** A crash may come before what was asked is stored as such; who sees it in the transcript takes it for said. */
async function unheardBefore({ turn, context }: TurnWork): Promise<readonly ModelMessage[]> {
  if (!context.mayLack) return []
  const prompts = await turn.interruptedPromptsAfter(context.place)
  context.mayLack = false
  return prompts.filter((content) => !isOwnCommand(content)).map((content) => ({ role: 'user', content }))
}

/** What people saw of an answer that never became whole. */
async function cutAnswer({ turn, context }: TurnWork): Promise<Cut> {
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
