/** What happens in a run, in order: plain data from one seed, so that it can be printed, cut shorter and played again. */
import { type Chance, chanceOf } from '../series/chance.ts'

/** How often each kind of action comes. */
const weights = {
  connect: 5,
  new: 0.5,
  load: 7,
  resume: 5,
  prompt: 9,
  'prompt again': 2,
  reply: 9,
  cancel: 1,
  withdraw: 1,
  close: 0.4,
  delete: 0.2,
  break: 2.5,
  leave: 1,
  stall: 2,
  'read on': 2.5,
  sip: 2,
  mute: 1,
  unmute: 1.5,
  disk: 22,
  trouble: 0.6,
  agent: 26,
  tool: 4,
  time: 1.5,
  kill: 0.5,
  usurp: 0.1,
  wait: 6,
} as const

/** What came later: seeds that failed before then must go on meaning what they meant. */
const laterWeights = { rename: 0.6, fork: 0.4 } as const

/** Raised when the same seed shall come to mean another scenario. */
const EDITION = 2

export type Kind = keyof typeof weights | keyof typeof laterWeights

/** `who` is a client's number; `roll` and `more` decide whatever else there is to decide. */
export interface Action {
  readonly kind: Kind
  readonly who: number
  readonly roll: number
  readonly more: number
}

export interface Scenario {
  readonly seed: number
  readonly clients: number
  /** Whatever is asked of the disk waits until it is served. */
  readonly slowDisk: boolean
  readonly actions: readonly Action[]
}

export function scenarioOf(seed: number, mostClients: number, edition = EDITION): Scenario {
  const chance = chanceOf(seed)
  const isCrowd = chance.happens(0.04)
  const clients = Math.min(mostClients, isCrowd ? chance.between(20, 100) : chance.between(2, 9))
  const count = isCrowd ? 400 : chance.between(40, 200)
  const kinds = kindsOf(chance, edition)
  const action = (kind: Kind, who: number): Action => ({ kind, who, roll: roll(chance), more: roll(chance) })
  const beginning = [action('connect', 0), action('new', 0)]
  const arrivals = Array.from({ length: clients }, (_, who) => [action('connect', who), action('load', who)]).flat()
  const rest = Array.from({ length: count }, () => action(chance.pick(kinds), chance.between(0, clients - 1)))
  return { seed, clients, slowDisk: chance.happens(0.6), actions: [...beginning, ...arrivals, ...rest] }
}

/** Each kind as often as it shall come; some runs are without some of them, so that the others come to more. */
function kindsOf(chance: Chance, edition: number): readonly [Kind, ...Kind[]] {
  const known = edition === 1 ? weights : { ...weights, ...laterWeights }
  const all = Object.entries(known) as readonly (readonly [Kind, number])[]
  const absent = new Set(all.filter(([, weight]) => weight <= 1 && chance.happens(0.4)).map(([kind]) => kind))
  const kinds = all
    .filter(([kind]) => !absent.has(kind))
    .flatMap(([kind, weight]) => Array<Kind>(weight * 10).fill(kind))
  return ['wait', ...kinds]
}

function roll(chance: Chance): number {
  return chance.between(0, 999) / 1_000
}

export function wordsOf({ kind, who, roll, more }: Action): string {
  return `${kind} c${who} ${roll} ${more}`
}
