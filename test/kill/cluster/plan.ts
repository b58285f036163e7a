/** What befalls a cluster in one run of chaos, all of it from one seed. */
import { type Chance, chanceOf } from '../../series/chance.ts'
import { type Story, storyOf } from '../story.ts'

const CHUNKS = 240
/** Ticks of a tool, ten a second: longer than it takes to count a node out and claim what it had. */
const TICKS = 75

export const clusterDeeds = [
  'kill the owner',
  'kill another node',
  'stop the owner in order',
  'pause the owner until it is counted out',
  'pause the owner for a moment',
  'pause another node for a moment',
  'move the session',
  'drain the owner',
  'cut the owner from the database until it is counted out',
  'cut the owner from the database for a moment',
  'freeze the way of the owner to the database',
  'break the way of the owner to the database at any byte',
  'cut the owner from the other nodes',
  'freeze the way of the others to the owner',
  'break the way of the others to the owner at any byte',
  'fail over to the standby',
  'fail over while the old primary goes on',
  'stop the standby for a while',
  'fill the disk of the database',
  'end the connections of the database',
  'cancel what the database does',
  'cut a client',
  'kill the tools',
] as const

export type ClusterDeed = (typeof clusterDeeds)[number]

/** What takes a session from a node whose tools could work on. */
const takingAway: readonly [ClusterDeed, ...ClusterDeed[]] = [
  'pause the owner until it is counted out',
  'cut the owner from the database until it is counted out',
  'kill the owner',
]

export interface ClusterMoment {
  /** So long after that many messages of the first prompt, or after a tool has begun that works for long. */
  readonly message: number | 'a tool works'
  readonly afterMs: number
  /** All at once. */
  readonly deeds: readonly ClusterDeed[]
}

export interface ClusterPlan {
  readonly seed: number
  readonly story: Story
  /** In its story a tool works longer than it takes to count a node out, so there is one prompt only. */
  readonly isLong: boolean
  readonly moments: readonly ClusterMoment[]
  /** How long what is for a moment lasts. Milliseconds. */
  readonly standMs: number
  /** How long people think before they answer a question. Milliseconds. */
  readonly thinkMs: number
}

export function clusterPlanOf(seed: number): ClusterPlan {
  const chance = chanceOf(seed)
  const isLong = chance.happens(0.2)
  const story = isLong ? longStory(chance) : storyOf(chance, CHUNKS)
  const first = momentOf(chance)
  const working = { ...first, message: 'a tool works' as const, deeds: [chance.pick(takingAway)] }
  const moments = isLong ? [working] : [first, ...more(chance)]
  const inOrder = moments.toSorted((one, other) => Number(one.message) - Number(other.message))
  const thinkMs = chance.happens(0.5) ? chance.between(5, 150) : 0
  return { seed, story, isLong, moments: inOrder, standMs: chance.between(50, 2_000), thinkMs }
}

/** Ends with the words of a whole one, after the tool. */
function longStory(chance: Chance): Story {
  const { steps, text } = storyOf(chance, CHUNKS)
  const call = { toolCall: { toolCallId: 'long', name: 'append', arguments: { label: 'long', ticks: TICKS } } }
  return { steps: [call, ...steps], text }
}

function more(chance: Chance): readonly ClusterMoment[] {
  return chance.happens(0.3) ? [momentOf(chance)] : []
}

function momentOf(chance: Chance): ClusterMoment {
  const deeds = Array.from({ length: chance.happens(0.3) ? 2 : 1 }, () => chance.pick(clusterDeeds))
  return { message: chance.between(1, 120), afterMs: chance.between(0, 8), deeds: [...new Set(deeds)] }
}
