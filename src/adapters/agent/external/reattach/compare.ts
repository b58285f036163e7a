/** Compares what an agent has of a session with the session's own transcript. Pure. */
import type { PastTurn } from '../../../../ports/agent.ts'
import type { Content } from '../../../../ports/values/content.ts'
import type { ReplayedTurn } from './replay.ts'

export interface Comparison {
  /** Turns that the agent has and the transcript has not: made outside Parley. */
  readonly outside: readonly ReplayedTurn[]
  /** Turns of the transcript that the agent does not know. */
  readonly unknown: readonly PastTurn[]
  /** The last turn of the transcript as the agent has it; absent if it does not know it. */
  readonly last?: ReplayedTurn
  /** The agent replayed nothing although it should have something. */
  readonly isEmpty: boolean
}

/**
 * By the prompts alone, since agents lose and reorder the rest. A turn that was cut or failed may be missing from the agent's
 * memory without that being a fork of the conversation.
 */
export function compare(transcript: readonly PastTurn[], replayed: readonly ReplayedTurn[]): Comparison {
  const known = new Map<PastTurn, ReplayedTurn>()
  const taken = new Set<ReplayedTurn>()
  let from = 0
  for (const turn of transcript) {
    const at = replayed.findIndex((one, index) => index >= from && isSamePrompt(one, turn))
    const found = replayed[at]
    if (found === undefined) continue
    known.set(turn, found)
    taken.add(found)
    from = at + 1
  }
  const last = transcript.at(-1)
  const lastKnown = last && known.get(last)
  return {
    outside: replayed.filter((one) => !taken.has(one)),
    unknown: transcript.filter((turn) => !known.has(turn)),
    ...(lastKnown !== undefined && { last: lastKnown }),
    isEmpty: replayed.length === 0 && transcript.some(({ end }) => end === 'end_turn'),
  }
}

/** What was sent before the prompt's own text, such as a rendered transcript, stands before it in the replay as well. */
function isSamePrompt({ prompt }: ReplayedTurn, turn: PastTurn): boolean {
  const theirs = squeezed(prompt)
  const ours = squeezed(promptText(turn.prompt))
  return theirs === ours || (ours !== '' && theirs.endsWith(ours))
}

export function promptText(prompt: readonly Content[]): string {
  return prompt.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
}

function squeezed(text: string): string {
  return text.replace(/\s+/gu, '')
}
