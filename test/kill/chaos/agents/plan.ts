/** What a run of chaos with an external agent does, all of it from one seed. */
import type { Fields } from '../../../e2e/message.ts'
import { type Chance, chanceOf } from '../../../series/chance.ts'
import { type ChaosPlan, type Condition, type Deed, type Moment, faultOf } from '../plan.ts'
import { kindOf } from './kinds.ts'
import { taleOf } from './tale.ts'

const CHUNKS = 160

const deeds: readonly [Deed, ...Deed[]] = [
  'kill the agent',
  'kill the agent',
  'stop the agent for a while',
  'cancel the turn',
  'end the journal thread',
  'kill a relay',
  'kill the follower',
  'kill the runner',
  'cut the raw client',
  'stop a relay for a while',
  'stop the server for a while',
]

export function agentChaosOf(seed: number): ChaosPlan {
  const chance = chanceOf(seed)
  const kind = kindOf(chance)
  const { moves, text } = taleOf(chance, CHUNKS)
  const steps = moves as readonly unknown[] as readonly Fields[]
  const moments = Array.from({ length: chance.between(1, 3) }, () => momentOf(chance))
  return {
    seed,
    kind,
    story: { steps, text },
    condition: conditionOf(chance),
    moments: moments.toSorted((one, other) => Number(one.message) - Number(other.message)),
    standMs: chance.between(50, 1_000),
    thinkMs: chance.happens(0.5) ? chance.between(5, 100) : 0,
  }
}

function momentOf(chance: Chance): Moment {
  const first = chance.happens(0.35) ? 'kill the server' : chance.pick(deeds)
  const others = chance.happens(0.3) ? [chance.pick(deeds)] : []
  return { message: chance.between(0, 220), afterMs: chance.between(0, 8), deeds: [...new Set([first, ...others])] }
}

function conditionOf(chance: Chance): Condition {
  const kind = chance.pick(['well', 'well', 'well', 'dies at a point', 'has a slow disk'] as const)
  return kind === 'well' ? { kind } : faultOf(chance, kind)
}
