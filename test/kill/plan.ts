/** What a run is going to do, all of it from one seed: the story, and how each life of the server ends. */
import type { FaultSpec } from '../../src/ports/fault.ts'
import { type Chance, chanceOf } from '../series/chance.ts'
import { CHUNKS, type Story, storyOf } from './story.ts'

/** When the power is cut. */
export type Cut =
  /** `afterMs` after the client has received the `message`-th line of the turn. */
  | { readonly kind: 'clock'; readonly message: number; readonly afterMs: number }
  /** While a question waits for its answer. */
  | { readonly kind: 'question'; readonly nth: number; readonly afterMs: number }
  /** When the server itself reaches a named point. */
  | { readonly kind: 'fault'; readonly fault: FaultSpec }

export interface LifePlan {
  readonly cut: Cut
  /** A second prompt, sent while the first one runs. */
  readonly queuesAnother: boolean
}

export interface Plan {
  readonly seed: number
  readonly story: Story
  /** The lives that end badly; a calm one follows. */
  readonly lives: readonly LifePlan[]
  /** After the last cut: the power goes once more, in the middle of the recovery. */
  readonly recoveryCut: FaultSpec | undefined
  /** Whether somebody prompts again after the last restart. */
  readonly promptsAgain: boolean
  /** How many of the questions are answered with yes, out of ten. */
  readonly yesOfTen: number
}

export function planOf(seed: number, faultShare: number): Plan {
  const chance = chanceOf(seed)
  const story = storyOf(chance)
  const lives = Array.from({ length: chance.happens(0.15) ? 2 : 1 }, () => lifeOf(chance, faultShare))
  return {
    seed,
    story,
    lives,
    recoveryCut: chance.happens(0.1) ? recoveryFault(chance) : undefined,
    promptsAgain: chance.happens(0.15),
    yesOfTen: chance.between(6, 10),
  }
}

function lifeOf(chance: Chance, faultShare: number): LifePlan {
  return { cut: cutOf(chance, faultShare), queuesAnother: chance.happens(0.1) }
}

function cutOf(chance: Chance, faultShare: number): Cut {
  if (chance.happens(faultShare)) return { kind: 'fault', fault: faultOf(chance) }
  if (chance.happens(0.12)) return { kind: 'question', nth: chance.between(1, 2), afterMs: chance.between(0, 20) }
  return { kind: 'clock', message: chance.between(1, CHUNKS + 20), afterMs: chance.between(0, 8) }
}

/** How often each point is passed in a turn is roughly known; one that is not reached is a cut after the end. */
function faultOf(chance: Chance): FaultSpec {
  const [point, most] = chance.pick<readonly [FaultSpec['point'], number]>([
    ['session.batch.decided', 40],
    ['journal.append.sent', 40],
    ['journal.rows.written', 40],
    ['journal.transaction.committed', 40],
    ['session.batch.stored', 40],
    ['session.batch.published', 40],
    ['tool.started', 3],
    ['tool.finished', 3],
    ['permission.asked', 2],
    ['permission.answered', 2],
    ['turn.ended', 1],
  ])
  // The first batches create the session; nobody has seen anything before the third.
  const first = most === 40 ? 4 : 1
  return { point, action: 'kill', nth: chance.between(first, most) }
}

function recoveryFault(chance: Chance): FaultSpec {
  const point = chance.pick<FaultSpec['point']>([
    'recovery.started',
    'journal.rows.written',
    'session.batch.stored',
    'recovery.finished',
  ])
  return { point, action: 'kill', nth: 1 }
}
