/** One wave of inputs from one seed, on a few connections at once, and what must hold when it is over. */
import { Attacker } from './attacker.ts'
import { type Chance, chanceOf } from '../../series/chance.ts'
import { type World, inputOf } from './inputs.ts'

export interface Wave {
  readonly socket: string
  readonly seed: number
  readonly inputs: number
  readonly cwd: string
  readonly agent: string
  /** Sessions of earlier waves. */
  readonly sessions: readonly string[]
}

export interface Washed {
  readonly problems: readonly string[]
  readonly made: readonly string[]
  /** Sessions that were named in what may be a wish to delete them. */
  readonly deleted: readonly string[]
}

const CONNECTIONS = 3

export async function wash(wave: Wave): Promise<Washed> {
  const chance = chanceOf(wave.seed)
  const attackers = await Promise.all(Array.from({ length: CONNECTIONS }, () => Attacker.open(wave.socket)))
  const share = Math.ceil(wave.inputs / CONNECTIONS)
  await Promise.all(
    attackers.map((attacker) => attack(attacker, chanceOf(chance.between(0, 2 ** 31 - 1)), { ...wave, inputs: share })),
  )
  await Promise.all(attackers.map((attacker) => attacker.leave()))
  return {
    problems: attackers.flatMap(({ problems }) => problems),
    made: attackers.flatMap(({ made }) => made),
    deleted: attackers.flatMap(({ thrown }) => wave.sessions.filter((id) => thrown.some((line) => line.includes(id)))),
  }
}

async function attack(attacker: Attacker, chance: Chance, wave: Wave): Promise<void> {
  // Some never introduce themselves.
  if (!chance.happens(1 / 10)) await attacker.demand('hello', 'initialize', introduction(wave.agent))
  let count = 0
  // Far enough from each other that no disturbed byte makes one of another.
  const id = (): string => `r${(count += 1)}-${chance.between(0, 2 ** 31 - 1).toString(36)}`
  const world: World = { cwd: wave.cwd, sessions: wave.sessions.slice(-20), id }
  const asked: string[] = []
  for (let done = 0; done < wave.inputs; done += 1) {
    const { bytes, asks } = inputOf(chance, world)
    if (asks !== undefined) asked.push(asks)
    await inPieces(attacker, chance, bytes)
  }
  await settled(attacker, asked)
}

function introduction(agent: string) {
  return { protocolVersion: 1, clientCapabilities: {}, _meta: { 'parley/agent': agent } }
}

async function inPieces(attacker: Attacker, chance: Chance, bytes: Buffer): Promise<void> {
  attacker.note(bytes)
  if (!chance.happens(1 / 5)) return attacker.throw(bytes)
  const at = chance.between(0, bytes.length - 1)
  await attacker.throw(bytes.subarray(0, at))
  await new Promise(setImmediate)
  await attacker.throw(bytes.subarray(at))
}

/** A line of nothing ends whatever is half; then the connection must be as good as ever. */
async function settled(attacker: Attacker, asked: readonly string[]): Promise<void> {
  await attacker.throw(Buffer.from('\n'))
  const { error } = await attacker.demand('ping', '_fuzz/ping', {})
  if (error !== undefined && ![-32_601, -32_600].includes(error.code))
    attacker.problems.push(`a ping got ${error.code}`)
  for (const id of asked)
    if (attacker.answersTo(id) > 1) attacker.problems.push(`${attacker.answersTo(id)} answers to ${id}`)
}
