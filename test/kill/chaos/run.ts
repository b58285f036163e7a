/** One run of chaos: a town is founded, things go wrong in it, and what it comes to is judged by who knows none of our code. */
import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { updatesIn } from '../../e2e/message.ts'
import { chanceOf } from '../chance.ts'
import type { Finding } from '../evidence.ts'
import { readEffects, readJournal } from '../journal-file.ts'
import type { Phase } from '../phase.ts'
import { Town, patiently } from '../town.ts'
import { Cast } from './cast.ts'
import { type Harm, crowd, does, fill, freeze, stiffen } from './harm.ts'
import { judge } from './judge.ts'
import type { ChaosPlan, Deed } from './plan.ts'

export interface ChaosResult {
  readonly plan: ChaosPlan
  /** When what was done. */
  readonly done: readonly { readonly phase: Phase; readonly deed: Deed | ChaosPlan['condition']['kind'] }[]
  readonly findings: readonly Finding[]
  /** This machine could not do to its server what the plan says; all else was done. */
  readonly isMild: boolean
}

export interface ChaosOptions {
  readonly bin?: string
  readonly keep?: boolean
}

const UNKIND = fileURLToPath(new URL('unkind.mjs', import.meta.url))
/** Enough for a server with its indices and for those who are there, and for a few who come. */
const FEW_DESCRIPTORS = 80

export async function runChaos(plan: ChaosPlan, { bin, keep }: ChaosOptions = {}): Promise<ChaosResult> {
  const town = await Town.found(plan.story.steps, bin)
  const isSmall = OF_ITS_OWN.has(plan.condition.kind) && mountSmall(town.home)
  const run = new Chaos(town, plan)
  run.isMild = OF_ITS_OWN.has(plan.condition.kind) && !isSmall
  try {
    const findings = await run.play()
    return { plan, done: run.done, findings, isMild: run.isMild }
  } catch (error) {
    const broke: Finding = { kind: 'without an end', what: `the run broke off: ${String(error)}` }
    return { plan, done: run.done, findings: [broke], isMild: run.isMild }
  } finally {
    run.leave()
    if (isSmall) await town.raze(true)
    if (isSmall) execFileSync('umount', ['-l', town.home])
    await town.raze(keep)
  }
}

/** Conditions of a disk that is nobody else's. */
const OF_ITS_OWN: ReadonlySet<ChaosPlan['condition']['kind']> = new Set([
  'has a small disk',
  'has a directory that turns read-only',
])

/** False where only root may do that, and we are not. */
function mountSmall(home: string): boolean {
  mkdirSync(home)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=32m,mode=0700', 'tmpfs', home], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

class Chaos {
  isMild = false
  readonly done: ChaosResult['done'][number][] = []
  readonly #town: Town
  readonly #plan: ChaosPlan
  #cast: Cast | undefined

  constructor(town: Town, plan: ChaosPlan) {
    this.#town = town
    this.#plan = plan
  }

  async play(): Promise<readonly Finding[]> {
    await this.#serve()
    const cast = await Cast.gather(this.#town, this.#plan.thinkMs)
    this.#cast = cast
    await Promise.all([this.#worsen(cast), this.#harm(cast)])
    if (this.#does('cut the file short')) return this.#judgeRuin()
    // With the beginning of the log the session itself may be gone.
    const isGone = this.#does('cut the log short') && (await cast.isGone())
    return isGone ? this.#judgeRuin() : this.#rest(cast)
  }

  leave(): void {
    this.#cast?.goer.leave()
  }

  async #serve(): Promise<void> {
    const { condition } = this.#plan
    const orders = this.#orders()
    mkdirSync(orders)
    const faults = 'faults' in condition ? { PARLEY_FAULTS: JSON.stringify(condition.faults) } : {}
    const env = { NODE_OPTIONS: `--import=${UNKIND}`, CHAOS_ORDERS: orders, ...faults }
    const limit = ['sh', '-c', `ulimit -n ${FEW_DESCRIPTORS}; exec "$@"`, 'sh']
    await this.#town.serve(env, condition.kind === 'has few descriptors' ? limit : [])
  }

  /** What goes wrong with the first server by itself. */
  async #worsen(cast: Cast): Promise<void> {
    const { condition, standMs } = this.#plan
    if (condition.kind === 'well' || this.isMild) return
    await patiently('the first words', cast.heard(20))
    const phase = cast.phase()
    if (condition.kind === 'has files that turn read-only') this.isMild = !(await stiffen(this.#town, standMs))
    if (this.isMild) return
    this.done.push({ phase, deed: condition.kind })
    if (condition.kind === 'has few descriptors') await crowd(this.#town, standMs)
    if (condition.kind === 'has a small disk') await fill(this.#town, standMs)
    if (condition.kind === 'has a directory that turns read-only') await freeze(this.#harmed(cast), standMs)
  }

  async #harm(cast: Cast): Promise<void> {
    const harm = this.#harmed(cast)
    for (const { message, afterMs, deeds } of this.#plan.moments) {
      await patiently('the moment', cast.heard(message))
      await sleep(afterMs)
      for (const deed of deeds) this.done.push({ phase: cast.phase(), deed })
      await Promise.all(deeds.map((deed) => does(deed, harm)))
    }
  }

  #harmed(cast: Cast): Harm {
    const { seed, standMs } = this.#plan
    return { town: this.#town, cast, chance: chanceOf(seed + 1), standMs, orders: this.#orders() }
  }

  /** Everyone who is left has an answer, the next prompt works, and what is told is what is stored. */
  async #rest(cast: Cast): Promise<readonly Finding[]> {
    const reader = await cast.reader()
    for (const sent of cast.sent) if (sent.isOwed()) await patiently(`the answer of ${sent.promptId}`, sent.answered())
    // What it prompts belongs to what is judged.
    await patiently('the end of the runner', cast.runner.ended)
    const last = cast.promptOnce(reader)
    await patiently('the answer of the next prompt', last.answered())
    const end = reader.received.length
    const again = { sessionId: cast.sessionId, ...this.#town.opening('reader') }
    await patiently('the last load', reader.request('session/load', again))
    const replay = updatesIn(reader.received.slice(end), cast.sessionId)
    const journal = readJournal(this.#town.home, cast.sessionId)
    cast.goer.leave()
    const stay = await this.#town.empty()
    const isCutShort = this.#does('cut the log short')
    const effects = readEffects(this.#town.effects)
    const views = cast
      .views()
      .map(([who, updates]) => [who, who === 'relay 3' ? updates.slice(0, 0) : updates] as const)
    return judge({ cast, views, replay, journal, effects, stay, isCutShort, last, story: this.#plan.story.text })
  }

  /** A journal of which a part is gone is no journal: whoever asks hears that in words, and nothing hangs or stays. */
  async #judgeRuin(): Promise<readonly Finding[]> {
    const asked = await patiently('an answer about the ruin', this.#town.says(['ls']))
    if (this.#cast !== undefined) await patiently('the end of the runner', this.#cast.runner.ended)
    this.leave()
    const stay = await this.#town.empty()
    const isClear = asked.code === 0 || /damaged|restore|journal/i.test(asked.stderr)
    return [
      ...(isClear ? [] : [{ kind: 'wrong', what: `ls of a ruin says ${asked.stderr.slice(0, 200)}` } as const]),
      ...stay.map((pid): Finding => ({ kind: 'wrong', what: `process ${pid} stays` })),
    ]
  }

  #does(deed: Deed): boolean {
    return this.#plan.moments.some(({ deeds }) => deeds.includes(deed))
  }

  #orders(): string {
    return join(this.#town.directory, 'orders')
  }
}
