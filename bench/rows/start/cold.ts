/**
 * What the first client of a day waits for: `parley acp` where no server runs, on a state directory that is new and on one
 * that a server has used before; then the first requests of a process that has just started. Beside a bare Node script.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { cleanEnvironment } from '../../../test/e2e/environment.ts'
import { startModel } from '../../model-peer.ts'
import { Peer, binary, settings } from '../../peer.ts'
import { type Measuring, type Row, median, ms, times } from '../../row.ts'
import { freshHome } from '../../scene.ts'

const bare = fileURLToPath(new URL('../../peers/bare.mjs', import.meta.url))
const GOAL_INITIALIZE = 1.5
const GOAL_SESSION = 4
const GOAL_LIST_MS = 30
const GOAL_LOAD_MS = 40
const TURNS = 200

export async function cold({ quick, directory }: Measuring): Promise<readonly Row[]> {
  const model = await startModel(directory, [{ text: 'ok' }])
  try {
    const scene = new Scene(directory, model.environment)
    const repeats = quick ? 3 : 11
    return [...(await scene.starts(repeats)), ...(await scene.firstRequests(quick ? 20 : TURNS, repeats))]
  } finally {
    await model.close()
  }
}

interface Start {
  readonly initialized: number
  /** From spawn to the answer of the `session/new` after it. */
  readonly session: number
}

class Scene {
  readonly #directory: string
  readonly #model: Readonly<Record<string, string>>

  constructor(directory: string, model: Readonly<Record<string, string>>) {
    this.#directory = directory
    this.#model = model
  }

  async starts(repeats: number): Promise<readonly Row[]> {
    const [floor, fresh, used]: [number[], Start[], Start[]] = [[], [], []]
    const known = freshHome(this.#directory)
    await this.#start(known)
    for (let repeat = 0; repeat < repeats; repeat += 1) {
      floor.push(await this.#bare())
      fresh.push(await this.#start(freshHome(this.#directory)))
      used.push(await this.#start(known))
    }
    return [...startRows('from nothing', fresh, median(floor)), ...startRows('no server runs', used, median(floor))]
  }

  /** `session/list` and `session/load` as the first request after `initialize`, each in a process of its own. */
  async firstRequests(turns: number, repeats: number): Promise<readonly Row[]> {
    const home = freshHome(this.#directory)
    const sessionId = await this.#converse(home, turns)
    const [lists, loads]: [number[], number[]] = [[], []]
    for (let repeat = 0; repeat < repeats; repeat += 1) {
      lists.push(await this.#first(home, 'session/list', {}))
      loads.push(await this.#first(home, 'session/load', { sessionId, cwd: this.#directory, mcpServers: [] }))
    }
    const row = (what: string, took: readonly number[], goal: number): Row => ({
      what,
      measured: ms(median(took)),
      goal: `≤ ${ms(goal)}`,
      floor: `${ms(Math.max(...took))} the slowest of ${took.length}`,
      ok: median(took) <= goal,
    })
    return [
      row('acp --embedded: session/list as first request', lists, GOAL_LIST_MS),
      row(`acp --embedded: session/load of ${turns} turns as first`, loads, GOAL_LOAD_MS),
    ]
  }

  async #bare(): Promise<number> {
    const began = performance.now()
    const peer = new Peer([bare])
    await peer.initialize()
    const took = performance.now() - began
    await peer.kill()
    return took
  }

  async #start(home: string): Promise<Start> {
    const began = performance.now()
    const peer = new Peer([binary, 'acp'], this.#settings(home))
    await peer.initialize()
    const initialized = performance.now() - began
    await peer.newSession(this.#directory)
    const session = performance.now() - began
    await peer.close()
    spawnSync(process.execPath, [binary, 'stop'], { env: { ...cleanEnvironment(), ...this.#settings(home) } })
    return { initialized, session }
  }

  async #converse(home: string, turns: number): Promise<string> {
    const peer = this.#embedded(home)
    await peer.initialize()
    const sessionId = await peer.newSession(this.#directory)
    for (let turn = 0; turn < turns; turn += 1) await peer.prompt(sessionId)
    await peer.close()
    return sessionId
  }

  async #first(home: string, method: string, params: object): Promise<number> {
    const peer = this.#embedded(home)
    await peer.initialize()
    const { ms: took } = await peer.request(method, params)
    await peer.kill()
    return took
  }

  #embedded(home: string): Peer {
    return new Peer([binary, 'acp', '--embedded'], this.#settings(home))
  }

  #settings(home: string): Readonly<Record<string, string>> {
    return { ...settings(home), ...this.#model }
  }
}

function startRows(what: string, starts: readonly Start[], floor: number): readonly Row[] {
  const row = (name: string, measured: number, goal: number): Row => ({
    what: `acp, ${what}: spawn → ${name}`,
    measured: `${ms(measured)} (${times(measured / floor)})`,
    goal: `≤ ${goal} × a bare script`,
    floor: `${ms(floor)} bare script`,
    ok: measured / floor <= goal,
  })
  return [
    row('initialize answer', median(starts.map((start) => start.initialized)), GOAL_INITIALIZE),
    row('session/new answer', median(starts.map((start) => start.session)), GOAL_SESSION),
  ]
}
