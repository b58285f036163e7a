/**
 * Readers join a streaming session at any cursor, leave, stall and read on, while disk, agent and they take their steps
 * in any order: each is told every entry once, in order. A failing seed is printed; `PARLEY_SIM_SEED=n` plays it again.
 */
import { expect, test } from 'vitest'
import type { Turn } from '../../src/ports/agent.ts'
import type { Entry } from '../../src/session/entries.ts'
import type { Feed } from '../../src/session/feed.ts'
import type { Session } from '../../src/session/session.ts'
import { account } from './account.ts'
import { quiet } from './clock.ts'
import { House } from './house.ts'
import { Reader } from './reader.ts'
import { told } from './told.ts'
import { option, prompt, text } from './words.ts'

const SEED = Number(process.env['PARLEY_SIM_SEED'] ?? 0)
const RUNS = Number(process.env['PARLEY_SIM_RUNS'] ?? 1_000)
const STEPS = 60

interface Member {
  readonly from: number
  readonly reader: Reader
  readonly feed: Feed
  /** Replayed and live, or failed to be. */
  readonly joined: Promise<unknown>
  left: boolean
}

/** One seeded life of a session. */
class Simulation {
  readonly #chance: () => number
  readonly #house = new House()
  readonly #members: Member[] = []
  readonly #session: Session
  #words: (() => void)[] = []
  #prompts = 0
  #clock: Promise<void> = Promise.resolve()

  private constructor(seed: number, house: House, session: Session) {
    this.#chance = chanceFrom(seed)
    this.#house = house
    this.#session = session
  }

  static async open(seed: number): Promise<Simulation> {
    const house = new House()
    const simulation = new Simulation(
      seed,
      house,
      await house.sessions.create({ cwd: '/', additionalDirectories: [], mcpServers: [] }),
    )
    house.agent.script = (turn) => simulation.#speak(turn)
    house.disk.hold()
    return simulation
  }

  async play(): Promise<void> {
    for (let step = 0; step < STEPS; step += 1) {
      this.#step()
      if (this.#chance() < 0.7) await quiet()
    }
    await this.#comeToRest()
    await this.#check()
  }

  /** The disk is asked most often, so that things move at all. */
  #step(): void {
    const { disk } = this.#house
    const dice = this.#chance()
    if (dice < 0.35) disk.serve(this.#pick(disk.waiting))
    else if (dice < 0.6) this.#words.splice(this.#pick(this.#words.length), 1)[0]?.()
    else if (dice < 0.72) this.#join()
    else if (dice < 0.8) this.#member()?.reader.stall()
    else if (dice < 0.88) this.#member()?.reader.readOn()
    else if (dice < 0.91) this.#leave()
    else if (dice < 0.93) disk.next = this.#chance() < 0.5 ? 'full' : 'lost answer'
    else if (dice < 0.95) this.#clock = this.#clock.then(() => this.#house.clock.advance(1_000))
    else this.#command()
  }

  /** An agent that says now this, now that, whenever its turn comes in the dance. */
  async #speak(turn: Turn): Promise<'end_turn'> {
    for (let n = 0; !turn.signal.aborted && n < 40; n += 1) {
      await new Promise<void>((resolve) => this.#words.push(resolve))
      const dice = this.#chance()
      if (dice < 0.65) await turn.say(text(`${turn.turnId}.${n} `))
      else if (dice < 0.8) await turn.think(text(`hm ${n} `))
      else if (dice < 0.9) await turn.report(`${turn.turnId}-x${n}`, { title: 'x', status: 'completed' })
      else if (dice < 0.95)
        await turn.ask({
          toolCallId: `${turn.turnId}-q${n}`,
          patch: { title: 'q' },
          options: [option('allow_once')],
          state: n,
        })
      else break
    }
    return 'end_turn'
  }

  #command(): void {
    const { state } = this.#session
    if ('question' in state)
      this.#dispatch({ kind: 'answer', requestId: state.question.requestId, optionId: 'allow_once' })
    else if (this.#chance() < 0.3) this.#dispatch({ kind: 'cancel', queued: [] })
    else this.#dispatch(prompt(`p${(this.#prompts += 1)}`, 'Go on'))
  }

  #dispatch(command: Parameters<Session['dispatch']>[0]): void {
    // A refusal is as good an answer here; the journal is what is checked.
    this.#session.dispatch(command).catch(() => undefined)
  }

  #join(): void {
    const head = this.#session.state.seq
    const from = this.#pick(head + 1)
    const reader = new Reader(this.#house.disk, this.#session.id)
    const feed = this.#session.attach(reader, from)
    const joined = feed.replay(head).then(() => feed.goLive())
    this.#members.push({ from, reader, feed, joined, left: false })
  }

  #leave(): void {
    const member = this.#member()
    if (member === undefined) return
    member.left = true
    member.feed.end()
  }

  #member(): Member | undefined {
    return this.#members[this.#pick(this.#members.length)]
  }

  #pick(count: number): number {
    return Math.floor(this.#chance() * count)
  }

  /** Everyone reads, the disk is well, the agent is stopped. */
  async #comeToRest(): Promise<void> {
    const { disk, clock } = this.#house
    disk.next = 'none'
    disk.release()
    for (const { reader } of this.#members) reader.readOn()
    await this.#clock
    await quiet()
    for (let round = 0; round < 100 && this.#session.state.phase !== 'idle'; round += 1) {
      this.#dispatch({ kind: 'cancel', queued: [] })
      for (const speak of this.#words.splice(0)) speak()
      await clock.advance(2_000)
    }
    await this.#session.dispatch({ kind: 'notice', text: 'The end.' })
    await Promise.all(this.#members.map(({ joined }) => joined))
    await quiet()
  }

  async #check(): Promise<void> {
    const stored = await this.#house.disk.entries(this.#session.id)
    for (const { from, reader, left } of this.#members) {
      expect(reader.early).toEqual([])
      const all = told(stored.slice(from))
      const heard = told(reader.entries)
      expect(heard).toEqual(left ? all.slice(0, heard.length) : all)
    }
    expectOneEndEach(stored)
  }
}

function expectOneEndEach(stored: readonly Entry[]): void {
  const { accepted, ends, strays, leftOpen } = account(stored)
  expect(accepted.map((promptId) => [promptId, ends(promptId)])).toEqual(accepted.map((promptId) => [promptId, 1]))
  expect({ strays, leftOpen }).toEqual({ strays: [], leftOpen: [] })
}

/** Mulberry32: the same numbers for the same seed, everywhere. */
function chanceFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

async function playSeed(seed: number): Promise<void> {
  try {
    const simulation = await Simulation.open(seed)
    await simulation.play()
  } catch (error) {
    throw new Error(`the simulation with seed ${seed} failed; play it again with PARLEY_SIM_SEED=${seed}`, {
      cause: error,
    })
  }
}

test('whoever joins, stalls or leaves while a session streams is told every entry once, in order', async () => {
  const seeds = SEED > 0 ? [SEED] : Array.from({ length: RUNS }, (_, n) => n + 1)
  for (const seed of seeds) await playSeed(seed)
}, 300_000)
