/** What a run of chaos does, all of it from one seed: how the server starts, and what befalls whom at which moment. */
import type { FaultPoint, FaultSpec } from '../../../src/ports/fault.ts'
import { type Chance, chanceOf } from '../../series/chance.ts'
import { type Story, storyOf } from '../story.ts'
import type { Kind } from './agents/kinds.ts'

const CHUNKS = 320

const others = [
  'end the journal thread',
  'kill a relay',
  'kill the follower',
  'kill the runner',
  'cut the raw client',
  'cut the network',
  'freeze the network for a while',
  'break the network at any byte',
  'kill the tools',
  'stop a relay for a while',
  'stop the follower for a while',
  'stop the server for a while',
  'move the clock',
] as const

/** To its files; it comes seldom. */
const damages = ['garbage after the log', 'cut the log short', 'cut the file short'] as const

export const deeds = ['kill the server', ...others, ...damages] as const

/** What befalls an agent that is a process of its own. */
export const agentDeeds = ['kill the agent', 'stop the agent for a while', 'cancel the turn'] as const

export type Deed = (typeof deeds)[number] | (typeof agentDeeds)[number]

/** How the first server starts. Those after it are started by whoever needs one, and are well. */
export type Condition =
  | { readonly kind: 'well' }
  | { readonly kind: 'dies at a point'; readonly faults: readonly FaultSpec[] }
  | { readonly kind: 'has a slow disk'; readonly faults: readonly FaultSpec[] }
  /** For a while more connect than it has descriptors for. */
  | { readonly kind: 'has few descriptors' }
  /** For a while nothing is left of it. */
  | { readonly kind: 'has a small disk' }
  /** It is killed, and those after it cannot write for a while. */
  | { readonly kind: 'has a directory that turns read-only' }
  /** It lives, and may not write for a while. */
  | { readonly kind: 'has files that turn read-only' }

/** What goes wrong with a server by itself. */
export const conditions = [
  'dies at a point',
  'has a slow disk',
  'has few descriptors',
  'has a small disk',
  'has a directory that turns read-only',
  'has files that turn read-only',
] as const satisfies readonly Condition['kind'][]

export interface Moment {
  /** So long after that many messages of the first prompt, or after somebody was first asked. */
  readonly message: number | 'a question'
  readonly afterMs: number
  /** All at once. */
  readonly deeds: readonly Deed[]
}

export interface ChaosPlan {
  readonly seed: number
  readonly story: Story
  /** Of an agent that is a process of its own; the steps of its story are what it does. */
  readonly kind?: Kind
  readonly condition: Condition
  readonly moments: readonly Moment[]
  /** How long those that are stopped stand still. */
  readonly standMs: number
  /** How long people think before they answer a question. */
  readonly thinkMs: number
}

export function chaosOf(seed: number): ChaosPlan {
  const chance = chanceOf(seed)
  const story = storyOf(chance, CHUNKS)
  const condition = conditionOf(chance)
  const moments = Array.from({ length: chance.happens(0.3) ? 2 : 1 }, () => momentOf(chance))
  const inOrder = moments.toSorted((one, other) => one.message - other.message)
  const standMs = chance.between(50, 1_500)
  const turns = condition.kind === 'well' && chance.happens(0.4) ? turningOf(chance) : condition
  const thinkMs = chance.happens(0.5) ? chance.between(5, 150) : 0
  return { seed, story, condition: turns, moments: atTheEdges(chance, inOrder), standMs, thinkMs }
}

function turningOf(chance: Chance): Condition {
  return { kind: chance.pick(['has a directory that turns read-only', 'has files that turn read-only']) }
}

/** Before anything was told, and while a question waits: moments that a count of messages seldom meets. */
function atTheEdges(chance: Chance, [first, ...rest]: readonly NumberedMoment[]): readonly Moment[] {
  if (first === undefined) return rest
  if (chance.happens(0.1)) return [{ ...first, message: 0 }, ...rest]
  return chance.happens(0.2) ? [{ ...first, message: 'a question' }, ...rest] : [first, ...rest]
}

type NumberedMoment = Moment & { readonly message: number }

function momentOf(chance: Chance): NumberedMoment {
  const first = deedOf(chance)
  const others = Array.from({ length: chance.happens(0.35) ? chance.between(1, 2) : 0 }, () => deedOf(chance))
  return { message: chance.between(1, 380), afterMs: chance.between(0, 8), deeds: [...new Set([first, ...others])] }
}

/** Mostly the server, since it is the one that may not be trusted to live. */
function deedOf(chance: Chance): Deed {
  if (chance.happens(0.35)) return 'kill the server'
  return chance.happens(0.15) ? chance.pick<Deed>(damages) : chance.pick<Deed>(others)
}

function conditionOf(chance: Chance): Condition {
  const kind = chance.pick<Condition['kind']>([
    'well',
    'well',
    'well',
    'dies at a point',
    'dies at a point',
    'has a slow disk',
    'has few descriptors',
    'has a small disk',
  ])
  return kind === 'dies at a point' || kind === 'has a slow disk' ? faultOf(chance, kind) : { kind }
}

export function faultOf(chance: Chance, kind: 'dies at a point' | 'has a slow disk'): Condition {
  if (kind === 'dies at a point') return { kind, faults: [{ ...pointOf(chance), action: 'kill' }] }
  // One that takes as long as a disk that spins up again, and some that only hesitate.
  const long = { point: 'journal.rows.written', action: 'delay', nth: chance.between(12, 40), ms: 5_000 } as const
  const short = [1, 2, 3].map(() =>
    Object.assign(pointOf(chance), { action: 'delay' as const, ms: chance.between(5, 300) }),
  )
  return { kind, faults: chance.happens(0.3) ? [long, ...short] : short }
}

/** Past the first batches, in which the session is made and everyone comes. */
function pointOf(chance: Chance): { readonly point: FaultPoint; readonly nth: number } {
  const [point, first, last] = chance.pick<readonly [FaultPoint, number, number]>([
    ['session.batch.decided', 12, 60],
    ['journal.append.sent', 12, 60],
    ['journal.rows.written', 12, 60],
    ['journal.transaction.committed', 12, 60],
    ['session.batch.stored', 12, 60],
    ['session.batch.published', 12, 60],
    ['tool.started', 1, 3],
    ['tool.finished', 1, 3],
    ['permission.asked', 1, 2],
    ['permission.answered', 1, 2],
    ['turn.ended', 1, 2],
  ])
  return { point, nth: chance.between(first, last) }
}
