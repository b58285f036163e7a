/** Compares what an agent has of a session with the session's own transcript. Pure. */
import type { PastPart, PastTurn } from '../../../../ports/agent.ts'
import type { Content } from '../../../../ports/values/content.ts'
import type { ReplayedTurn } from './replay.ts'

export interface Comparison {
  /** Turns that the agent has and the transcript has not: made outside Parley. */
  readonly outside: readonly ReplayedTurn[]
  /** Turns of the transcript that came after all that the agent knows. It got earlier ones when it had lost them. */
  readonly unknown: readonly PastTurn[]
  /** The last turn of the transcript as the agent has it; absent if it does not know it. */
  readonly last?: ReplayedTurn
  /** The agent replayed nothing although it should have something. */
  readonly isEmpty: boolean
}

/**
 * By the prompts first, since agents lose, merge and reorder the rest, and replay some turns twice. With `hasIds`, a message has
 * the same id live and in a replay: two turns with one prompt and other messages are not the same.
 */
export function compare(
  transcript: readonly PastTurn[],
  replayed: readonly ReplayedTurn[],
  { hasIds }: { readonly hasIds: boolean },
): Comparison {
  const isOther = (one: ReplayedTurn, turn: PastTurn): boolean => hasIds && hasOtherMessages(one, turn)
  const isSame = (one: ReplayedTurn, turn: PastTurn): boolean => isSamePrompt(one, turn) && !isOther(one, turn)
  const isSameTurn = (one: ReplayedTurn, turn: PastTurn): boolean => isSame(one, turn) && isSameAnswer(one, turn)
  const inOrder = matchedInOrder(transcript, replayed, isSame)
  const taken = new Set(inOrder.values())
  // What is left over on both sides may be out of order.
  const left = transcript.filter((turn) => !inOrder.has(turn))
  const hasAnswers = replayed.some(({ parts }) => wordsOf(parts) !== '')
  // An agent that is killed may have stored a prompt, and not yet what it had answered.
  const isWhole = (one: ReplayedTurn | undefined, turn: PastTurn): boolean =>
    one !== undefined && (!hasAnswers || wordsOf(turn.parts) === '' || wordsOf(one.parts) !== '')
  const isKnown = (turn: PastTurn): boolean =>
    isWhole(inOrder.get(turn), turn) ||
    replayed.some((one) => !taken.has(one) && isSame(one, turn)) ||
    (!inOrder.has(turn) && replayed.some((one) => isMerged(one, turn) && isWhole(one, turn) && !isOther(one, turn)))
  const isTold = (one: ReplayedTurn): boolean =>
    taken.has(one) || left.some((turn) => isSame(one, turn)) || transcript.some((turn) => isSameTurn(one, turn))
  const lastKnown = transcript.findLastIndex(isKnown)
  const last = transcript.at(-1)
  const found = last && (inOrder.get(last) ?? replayed.find((one) => isSameTurn(one, last)))
  return {
    outside: replayed.filter((one) => !isTold(one) && !one.prompt.trimEnd().endsWith(PROMPT_FOLLOWS)),
    unknown: transcript.slice(lastKnown + 1),
    ...(found !== undefined && { last: found }),
    isEmpty: replayed.length === 0 && transcript.some(({ end }) => end === 'end_turn'),
  }
}

/** A turn that was cut or failed may be missing from the agent's memory; the others are where they were. */
function matchedInOrder(
  transcript: readonly PastTurn[],
  replayed: readonly ReplayedTurn[],
  isSame: (one: ReplayedTurn, turn: PastTurn) => boolean,
): ReadonlyMap<PastTurn, ReplayedTurn> {
  const matched = new Map<PastTurn, ReplayedTurn>()
  let from = 0
  for (const turn of transcript) {
    const at = replayed.findIndex((one, index) => index >= from && isSame(one, turn))
    const found = replayed[at]
    if (found === undefined) continue
    matched.set(turn, found)
    from = at + 1
  }
  return matched
}

/** What was sent before the prompt's own text, such as a rendered transcript, stands before it in the replay as well. */
function isSamePrompt({ prompt }: ReplayedTurn, turn: PastTurn): boolean {
  const theirs = squeezed(prompt)
  const ours = squeezed(promptText(turn.prompt))
  return theirs === ours || (ours !== '' && theirs.endsWith(ours))
}

/** Both have messages with ids, and none in common. */
function hasOtherMessages(one: ReplayedTurn, turn: PastTurn): boolean {
  const [theirs, ours] = [idsOf(one.parts), idsOf(turn.parts)]
  return theirs.length > 0 && ours.length > 0 && !theirs.some((id) => ours.includes(id))
}

function idsOf(parts: readonly PastPart[]): readonly string[] {
  return parts.flatMap((part) => (part.kind === 'text' ? (part.messageId ?? []) : []))
}

/** A user may type the same words twice, but the agent hardly ever gives the same answer. */
function isSameAnswer(one: ReplayedTurn, turn: PastTurn): boolean {
  const [theirs, ours] = [wordsOf(one.parts), wordsOf(turn.parts)]
  return theirs.includes(ours) || ours.includes(theirs)
}

/** Several prompts came back as one. */
function isMerged({ prompt }: ReplayedTurn, turn: PastTurn): boolean {
  const ours = squeezed(promptText(turn.prompt))
  return ours !== '' && squeezed(prompt).includes(ours)
}

/** Stands before the user's prompt in all that is rendered for an agent (`reseed.ts`); no user types it. */
export const PROMPT_FOLLOWS = 'The prompt of the user follows.'

export function promptText(prompt: readonly Content[]): string {
  return prompt.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
}

/** The text of an answer without its white space. */
export function wordsOf(parts: readonly PastPart[]): string {
  return squeezed(parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join(''))
}

function squeezed(text: string): string {
  return text.replace(/\s+/gu, '')
}
