/** One run of chaos: things go wrong around a session, and what it comes to is judged by who knows none of our code. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RawClient } from '../../e2e/raw-client.ts'
import { until } from '../../fixtures/process/running.ts'
import { chanceOf } from '../../series/chance.ts'
import type { Finding } from '../evidence.ts'
import { readEffects, readJournal } from '../journal-file.ts'
import type { Phase } from '../phase.ts'
import { type Town, patiently } from '../town.ts'
import { Cast, type Pair } from './cast.ts'
import { type Harm, crowd, does, fill, freeze, limitFiles, stiffen } from './harm.ts'
import { Impatience } from './agents/impatience.ts'
import { judge } from './judge.ts'
import { faultsOf } from './orders.ts'
import type { ChaosPlan, Deed } from './plan.ts'
import type { Tally, Teller } from './teller.ts'

/** Enough for a server with its indices and for those who are there, and for a few who come. */
const FEW_DESCRIPTORS = 24
/** How long a tool may take to be gone with its session. Milliseconds. */
const FAREWELL = 15_000
/** Of what was said or logged, so much of the end is shown. Characters. */
const TRACE = 1_000

export interface Around {
  /** Where the server looks for orders. */
  readonly orders: string
  /** The disk is that of everybody. */
  readonly isMild: boolean
  readonly teller: Teller
}

/** When what was done. */
export interface Done {
  readonly phase: Phase
  readonly deed: Deed | ChaosPlan['condition']['kind']
}

export class Round {
  isMild = false
  readonly done: Done[] = []
  tally: Tally = {}
  readonly #town: Town
  readonly #plan: ChaosPlan
  readonly #around: Around
  #cast: Cast | undefined
  #visitor: RawClient | undefined
  #impatience: Impatience | undefined

  constructor(town: Town, plan: ChaosPlan, around: Around) {
    this.#town = town
    this.#plan = plan
    this.#around = around
    this.isMild = around.isMild
  }

  /** Those who may go on to the next session. */
  get relays(): readonly RawClient[] {
    return [...(this.#cast?.relays ?? []), ...(this.#visitor === undefined ? [] : [this.#visitor])]
  }

  async play(pair: Pair): Promise<readonly Finding[]> {
    const { seed, thinkMs, condition } = this.#plan
    this.#town.turnOver(String(seed))
    await this.#around.teller.becomes(this.#plan)
    if ('faults' in condition) writeFileSync(this.#faults(), '')
    const cast = await Cast.gather(this.#town, pair, thinkMs)
    this.#cast = cast
    if (hangs(this.#plan)) this.#impatience = new Impatience(cast)
    await Promise.all([this.#worsen(cast), this.#harm(cast)])
    rmSync(this.#faults(), { force: true })
    if (this.#does('cut the file short')) return this.#judgeRuin(cast)
    // With the beginning of the log the session itself may be gone.
    const isGone = this.#does('cut the log short') && (await cast.isGone())
    return isGone ? this.#judgeRuin(cast) : this.#rest(cast)
  }

  /** What a run that broke off leaves to be read: the runner's last words and the end of the server's log. */
  traces(): string {
    const runner = this.#cast?.runner
    const log = join(this.#town.home, 'parley.log')
    const logged = existsSync(log) ? readFileSync(log, 'utf8') : ''
    const told = JSON.stringify(runner?.lines.slice(-2) ?? [])
    return [
      `server ${this.#town.server() ?? 'none'}, runner ${runner?.child.exitCode ?? 'has not ended'}`,
      `runner told …${told.slice(-TRACE)}`,
      `runner said …${(runner?.said() ?? '').slice(-TRACE)}`,
      `server logged …${logged.slice(-3 * TRACE)}`,
    ].join('\n  ')
  }

  /** However it ended. */
  async leave(): Promise<void> {
    this.#impatience?.end()
    rmSync(this.#faults(), { force: true })
    const server = this.#town.server()
    if (server !== undefined && this.#plan.condition.kind === 'has few descriptors') limitFiles(server, 'as before')
    await this.#cast?.leave().catch(() => undefined)
  }

  /** What goes wrong with the server by itself. */
  async #worsen(cast: Cast): Promise<void> {
    const { condition, standMs } = this.#plan
    if (condition.kind === 'well' || this.isMild) return
    await patiently('the first words', cast.hasHeard(20))
    const phase = cast.phase()
    if (condition.kind === 'has files that turn read-only') this.isMild = !(await stiffen(this.#town, standMs))
    if (condition.kind === 'has few descriptors') this.isMild = !(await this.#limit())
    if (this.isMild) return
    this.done.push({ phase, deed: condition.kind })
    if (condition.kind === 'has few descriptors') await crowd(this.#town, standMs)
    if (condition.kind === 'has a small disk') await fill(this.#town, standMs)
    if (condition.kind === 'has a directory that turns read-only') await freeze(this.#harmed(cast), standMs)
  }

  /** The server of this moment, or the next one if it is just dead. */
  async #limit(): Promise<boolean> {
    await until(() => this.#town.server() !== undefined)
    return limitFiles(this.#town.server() ?? 0, FEW_DESCRIPTORS)
  }

  async #harm(cast: Cast): Promise<void> {
    const harm = this.#harmed(cast)
    for (const { message, afterMs, deeds } of this.#plan.moments) {
      await patiently('the moment', cast.hasHeard(message))
      await sleep(afterMs)
      for (const deed of deeds) this.done.push({ phase: cast.phase(), deed })
      await Promise.all(deeds.map((deed) => does(deed, harm)))
    }
  }

  #harmed(cast: Cast): Harm {
    const { seed, standMs } = this.#plan
    const { teller, orders } = this.#around
    return { town: this.#town, cast, teller, chance: chanceOf(seed + 1), standMs, orders }
  }

  /** Everyone who is left has an answer, the next prompt works, and what is told is what is stored. */
  async #rest(cast: Cast): Promise<readonly Finding[]> {
    const visit = await cast.visit()
    this.#visitor = visit.relay
    for (const sent of cast.sent) if (sent.isOwed()) await patiently(`the answer of ${sent.promptId}`, sent.answered())
    // What it prompts belongs to what is judged.
    await patiently('the end of the runner', cast.runner.ended)
    this.#impatience?.end()
    this.#around.teller.calm()
    await cast.cancelsHandled()
    const last = visit.prompt()
    await patiently('the answer of the next prompt', last.answered())
    const isCutShort = this.#does('cut the log short')
    const replay = await cast.close(!isCutShort)
    const journal = readJournal(this.#town.home, cast.sessionId)
    const stay = await this.#toolsThatStay()
    const effects = readEffects(this.#town.effects)
    const findings = judge({
      sent: cast.sent,
      views: cast.views(),
      replay,
      journal,
      effects,
      stay,
      isCutShort,
      last,
      story: this.#plan.story.text,
    })
    this.tally = this.#around.teller.tally()
    return [...findings, ...this.#around.teller.findings()]
  }

  /**
   * Nobody has the session open, so nobody has a tool or an agent of it. A start that the close has overtaken is a process for a
   * few milliseconds more, and may be one only after there was none: so it is looked twice.
   */
  async #toolsThatStay(): Promise<readonly string[]> {
    let left: readonly number[] = []
    const isEmpty = () => (left = [...this.#town.tools(), ...this.#around.teller.processes()]).length === 0
    for (const pauseMs of [0, 50]) {
      await sleep(pauseMs)
      await until(isEmpty, FAREWELL).catch(() => undefined)
    }
    return left.map((pid) => `${pid} (a tool or the agent of a closed session)`)
  }

  /** A journal of which a part is gone is no journal: whoever asks hears that in words, and nothing hangs or stays. */
  async #judgeRuin(cast: Cast): Promise<readonly Finding[]> {
    const asked = await patiently('an answer about the ruin', this.#town.says(['ls']))
    await patiently('the end of the runner', cast.runner.ended)
    const isClear = asked.code === 0 || /damaged|restore|journal/i.test(asked.stderr)
    return isClear ? [] : [{ kind: 'wrong', what: `ls of a ruin says ${asked.stderr.slice(0, 200)}` }]
  }

  #does(deed: Deed): boolean {
    return this.#plan.moments.some(({ deeds }) => deeds.includes(deed))
  }

  #faults(): string {
    return faultsOf(this.#around.orders, this.#plan.seed)
  }
}

function hangs({ kind }: ChaosPlan): boolean {
  return kind?.failing === 'hangs' || kind?.failing === 'is deaf'
}
