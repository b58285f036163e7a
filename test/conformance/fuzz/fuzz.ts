/** Throws waves at a real server over its socket, and sees whether it lives, keeps its memory, and loses no session. */
import { connect } from 'node:net'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { environmentOf } from '../../e2e/environment.ts'
import { socketPathOf } from '../../../src/config/socket.ts'
import { startServer } from '../../../src/server/launch/launch.ts'
import { binary } from '../../e2e/parley.ts'
import { carrying, runs, serverOf, signal, until } from '../../fixtures/process/running.ts'
import { Attacker } from './attacker.ts'
import { wash } from './wave.ts'

export interface Fuzz {
  readonly inputs: number
  readonly seed: number
  /** No wave begins after this time of `performance.now()`. */
  readonly deadline?: number
  /** Plays this wave alone. */
  readonly wave?: number | undefined
  readonly told?: (line: string) => void
}

export interface Outcome {
  readonly inputs: number
  readonly crashes: readonly string[]
  readonly hangs: readonly string[]
  readonly lost: readonly string[]
  /** What else no server may do. */
  readonly faults: readonly string[]
  readonly peakMegabytes: number
  /** What the server had at most in each quarter of the inputs: what leaks goes on growing. */
  readonly megabytes: readonly number[]
}

interface Listed {
  readonly sessionId: string
  readonly cwd: string
}

const PER_WAVE = 500
/** More than this at rest is a leak. Megabytes. */
const MEMORY = 900

export async function fuzz({
  inputs,
  seed,
  deadline = Infinity,
  wave,
  told = () => undefined,
}: Fuzz): Promise<Outcome> {
  const house = new House()
  try {
    await house.open()
    const waves = wave === undefined ? Array.from({ length: Math.ceil(inputs / PER_WAVE) }, (_, at) => at) : [wave]
    for (const at of waves) {
      if (performance.now() > deadline) break
      await house.wave(at, { seed: seedOf(seed, at), inputs: Math.min(PER_WAVE, inputs) })
      house.weigh(at / waves.length)
      if (at % 100 === 99) told(`${(at + 1) * PER_WAVE} inputs, ${house.sessions.size} sessions, ${house.peak} MB`)
    }
    await house.inspect()
    return house.outcome
  } finally {
    await house.close()
  }
}

class House {
  readonly #directory = realpathSync(mkdtempSync(join(tmpdir(), 'fuzz-')))
  readonly #home = join(this.#directory, 'home')
  readonly #socket = socketPathOf(this.#home)
  readonly #cwd = join(this.#directory, 'work')
  readonly #script = join(this.#directory, 'script.jsonl')
  readonly sessions = new Set<string>()
  readonly #told = { crashes: [] as string[], hangs: [] as string[], lost: [] as string[], faults: [] as string[] }
  /** Those that somebody may have asked to delete. */
  readonly #deleted = new Set<string>()
  #inputs = 0
  #pid = 0
  #watcher: Attacker | undefined
  #mine = ''
  #count = 0
  readonly #quarters = [0, 0, 0, 0]
  peak = 0

  get outcome(): Outcome {
    return { inputs: this.#inputs, peakMegabytes: this.peak, megabytes: this.#quarters, ...this.#told }
  }

  async open(): Promise<void> {
    mkdirSync(this.#cwd)
    writeFileSync(this.#script, '{"chunk":"Hello."}\n')
    await this.#start()
    this.#mine = String((await this.#ask('session/new', { cwd: this.#cwd, mcpServers: [] })).result?.['sessionId'])
    this.sessions.add(this.#mine)
  }

  /** The server, and somebody who only wants to work. */
  async #start(): Promise<void> {
    const environment = environmentOf({ home: this.#home })
    await startServer({ home: this.#home, socket: this.#socket, environment, program: binary })
    this.#pid = serverOf({ home: this.#home }) ?? 0
    this.#watcher = await Attacker.open(this.#socket)
    const _meta = { 'parley/agent': `script:${this.#script}` }
    await this.#ask('initialize', { protocolVersion: 1, clientCapabilities: {}, _meta })
  }

  async wave(at: number, { seed, inputs }: { readonly seed: number; readonly inputs: number }): Promise<void> {
    const where = { socket: this.#socket, cwd: this.#cwd, agent: `script:${this.#script}` }
    // The watcher's own session is not theirs to close.
    const theirs = [...this.sessions].filter((id) => id !== this.#mine)
    const { problems, made, deleted } = await wash({ ...where, seed, inputs, sessions: theirs })
    this.#inputs += inputs
    for (const id of made) this.sessions.add(id)
    for (const id of deleted) this.#deleted.add(id)
    for (const problem of problems) this.#note(`wave ${at}: ${problem}`)
    await this.#check(at)
  }

  /** `done` is the part of the inputs that has come. */
  weigh(done: number): void {
    const quarter = Math.min(3, Math.floor(done * 4))
    this.#quarters[quarter] = Math.max(this.#quarters[quarter] ?? 0, megabytes(this.#pid))
  }

  /** Everybody else notices nothing. */
  async #check(at: number): Promise<void> {
    if (!runs(this.#pid)) {
      this.#told.crashes.push(`wave ${at}: the server ended; ${this.#lastWords()}`)
      await this.#start()
      await this.#ask('session/resume', { sessionId: this.#mine, cwd: this.#cwd })
    }
    const prompt = { sessionId: this.#mine, prompt: [{ type: 'text', text: 'Still there?' }] }
    const { result } = await this.#ask('session/prompt', prompt)
    if (result?.['stopReason'] !== 'end_turn') this.#told.faults.push(`wave ${at}: another client’s turn did not end`)
    for (const problem of this.#watcher?.problems.splice(0) ?? []) this.#note(`wave ${at}, another client: ${problem}`)
    const now = megabytes(this.#pid)
    this.peak = Math.max(this.peak, now)
    if (now > MEMORY) this.#told.faults.push(`wave ${at}: the server has ${now} MB`)
  }

  /** A new server on the same journal: all that was made and not deleted must be there, whole. */
  async inspect(): Promise<void> {
    await this.#watcher?.leave()
    await this.#end()
    await this.#start()
    const listed = await this.#listed()
    if (!listed.has(this.#mine)) this.#told.lost.push(`${this.#mine} is not listed`)
    for (const id of this.sessions) if (!listed.has(id) && !this.#deleted.has(id)) this.#told.lost.push(`${id} is gone`)
    for (const [id, cwd] of listed) {
      const { error } = await this.#ask('session/load', { sessionId: id, cwd, mcpServers: [] })
      if (error !== undefined) this.#told.lost.push(`${id}: ${error.message}`)
      await this.#ask('session/close', { sessionId: id })
    }
    for (const problem of this.#watcher?.problems ?? []) this.#note(`at the end: ${problem}`)
  }

  async close(): Promise<void> {
    await this.#watcher?.leave()
    await this.#end()
    rmSync(this.#directory, { recursive: true, force: true, maxRetries: 5 })
  }

  /** Wherever they belong: chance makes directories too. */
  async #listed(): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>()
    let cursor: unknown
    do {
      const { result } = await this.#ask('session/list', cursor === undefined ? {} : { cursor })
      for (const { sessionId, cwd } of (result?.['sessions'] ?? []) as readonly Listed[]) found.set(sessionId, cwd)
      cursor = result?.['nextCursor']
    } while (cursor !== undefined)
    return found
  }

  async #ask(method: string, params: unknown) {
    this.#count += 1
    const watcher = this.#watcher
    if (watcher === undefined) throw new Error('nobody watches')
    return watcher.demand(`w${this.#count}`, method, params)
  }

  #note(problem: string): void {
    const isHang = problem.includes('got no answer')
    ;(isHang ? this.#told.hangs : this.#told.faults).push(problem)
  }

  #lastWords(): string {
    try {
      return readFileSync(join(this.#home, 'parley.log'), 'utf8').slice(-600)
    } catch {
      // It said nothing.
      return 'without a word'
    }
  }

  async #end(): Promise<void> {
    await until(() => {
      for (const pid of carrying(`PARLEY_HOME=${this.#home}`)) signal(pid, 'SIGKILL')
      return carrying(`PARLEY_HOME=${this.#home}`).length === 0
    }, 20_000)
    // One that is dying may still hold the socket.
    while (await isOpen(this.#socket)) await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

function isOpen(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    socket.on('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })
}

function megabytes(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return Math.round(Number(/VmRSS:\s+(\d+)/u.exec(status)?.[1] ?? 0) / 1024)
  } catch {
    // It has ended.
    return 0
  }
}

/** The seed of one wave of a run, so that it can be played alone. */
export function seedOf(seed: number, wave: number): number {
  return (Math.imul(seed + 1, 2_654_435_761) ^ Math.imul(wave + 1, 40_503)) >>> 0
}
