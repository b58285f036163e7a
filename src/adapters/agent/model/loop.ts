/** The loop of the model agent: a step of the model, its calls, their results, the next step; each kept before the next begins. */
import type { StopReason } from '../../../ports/agent.ts'
import type { ModelEnd, ModelMessage } from '../../../ports/model.ts'
import { closeOpenCalls, goOnWithCalls, runCalls } from './calls.ts'
import { Failures } from './failures.ts'
import { takeStep } from './step.ts'
import { systemPrompt } from './system-prompt.ts'
import { type Work, remember } from './work.ts'

export async function playTurn(work: Work): Promise<StopReason> {
  const { turn, context } = work
  const failures = new Failures()
  if (turn.resumed === undefined) await hear(work)
  else await goOnWithCalls(work, turn.resumed)
  if (context.openCalls.length > 0) await runCalls(work, failures)
  for (let step = 1; step <= work.means.maxSteps; step += 1) {
    if (turn.signal.aborted) return 'cancelled'
    const end = await takeStep(work, { compact: async () => false })
    if (context.openCalls.length === 0) return stopOf(end)
    await runCalls(work, failures)
  }
  return turn.signal.aborted ? 'cancelled' : 'max_turn_requests'
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

/** What was asked becomes part of the context, after what became of the turn before. */
async function hear(work: Work): Promise<void> {
  const { turn, context, means } = work
  const { roots, prompt } = turn
  if (context.isNew) {
    const system = systemPrompt({ roots, now: means.clock.now(), instructions: [] })
    await remember(work, { agent: 'model', kind: 'base', system, roots, messages: [], told: [], spent: {} })
  }
  const cut = await cutAnswer(work)
  await closeOpenCalls(work)
  const moved = sameRoots(roots, context.roots) ? [] : [note(`The directories of this turn: ${roots.join(', ')}`)]
  const messages: readonly ModelMessage[] = [
    ...cut.messages,
    { role: 'user', content: [...cut.notes.map(note), ...moved, ...prompt] },
  ]
  await remember(work, { agent: 'model', kind: 'asked', messages, ...(moved.length > 0 && { roots }) })
}

/** What people saw of an answer that never became whole. */
async function cutAnswer({ turn, context }: Work): Promise<{ messages: readonly ModelMessage[]; notes: string[] }> {
  if (context.isSettled) return { messages: [], notes: [] }
  const text = context.openCalls.length > 0 ? '' : await turn.saidSince(context.place)
  if (text === '') return { messages: [], notes: ['The turn before was cut off before you had answered.'] }
  return {
    messages: [{ role: 'assistant', parts: [{ kind: 'text', text }] }],
    notes: ['Your answer was cut off here; people saw what stands above.'],
  }
}

function note(text: string) {
  return { type: 'text', text: `[${text}]` } as const
}

function sameRoots(left: readonly string[], right: readonly string[]): boolean {
  return JSON.stringify(left) === JSON.stringify(right)
}
