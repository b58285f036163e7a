/** One run of the kill test: lives that end badly on one state directory, a calm one after them, and what the checker finds. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { updatesIn } from '../e2e/message.ts'
import { scriptAgent } from '../e2e/parley.ts'
import { chanceOf } from '../series/chance.ts'
import type { Scenario } from '../series/series.ts'
import { check } from './checker.ts'
import type { Finding, View } from './evidence.ts'
import type { Over, Trouble } from './far-client.ts'
import { readEffects, readJournal } from './journal-file.ts'
import { Life, type Prompt, type Scene } from './life.ts'
import type { Phase } from './phase.ts'
import { type LifePlan, type Plan, planOf } from './plan.ts'

export interface Cutting {
  readonly phase: Phase
  /** The clock, an open question, or the name of a fault point. */
  readonly by: string
}

export interface RunResult {
  readonly plan: Plan
  readonly cuts: readonly Cutting[]
  /** A client received something of a turn before each cut. */
  readonly counts: boolean
  readonly findings: readonly Finding[]
  /** Turns that waited for an answer through a restart. */
  readonly suspended: number
  /** What went wrong on the way to a remote client. */
  readonly troubles: readonly Trouble[]
}

export interface RunOptions {
  readonly bin?: string
  /** A tracer to run each life under, and what to say of it once the run is over. */
  readonly trace?: Tracing
  readonly keep?: boolean
  /** Clients are remote. */
  readonly over?: Over
}

export interface Tracing {
  under(directory: string, life: number): readonly string[]
  check(directory: string): Promise<readonly Finding[]>
}

/** One client and one server; `again` is what repeats a seed, `faultShare` the share of runs that are cut at a named point. */
export function killing(
  faultShare: number,
  again: (seed: number) => string,
  options: RunOptions = {},
): Scenario<number, RunResult> {
  return {
    play: async (seed) => [await run(planOf(seed, faultShare), options)],
    findings: ({ findings }) => findings.map(({ kind, what }) => `${kind}: ${what}`),
    title: ({ plan }) => `seed ${plan.seed}:`,
    again: ({ plan }) => again(plan.seed),
    // One in which no client received an update proves nothing.
    counts: ({ counts }) => counts,
  }
}

async function run(plan: Plan, options: RunOptions): Promise<RunResult> {
  const directory = await mkdtemp(join(tmpdir(), 'parley-kill-'))
  const lives: Life[] = []
  try {
    const scene = await sceneIn(directory, plan, options)
    return await new Run({ plan, scene, lives }).play(async () => (await options.trace?.check(directory)) ?? [])
  } catch (error) {
    // Nothing of what happened can be judged, which is a failure of its own.
    const what = `the run broke off: ${String(error)}; ${lives.at(-1)?.client.stderr.slice(-300) ?? ''}`
    return {
      plan,
      cuts: [],
      counts: true,
      suspended: 0,
      troubles: lives.flatMap((life) => life.troubles),
      findings: [{ kind: 'without an end', what }],
    }
  } finally {
    for (const { client } of lives) if (!client.gone) await client.kill()
    if (options.keep !== true) await rm(directory, { recursive: true, force: true, maxRetries: 3 })
  }
}

async function sceneIn(directory: string, plan: Plan, { bin, trace, over }: RunOptions): Promise<Scene> {
  const cwd = join(directory, 'work')
  await mkdir(cwd)
  const chance = chanceOf(plan.seed + 1)
  return {
    home: join(directory, 'home'),
    cwd,
    agent: await scriptAgent(directory, plan.story.steps),
    effects: join(directory, 'effects.jsonl'),
    bin,
    over,
    seed: plan.seed,
    under: (life) => trace?.under(directory, life) ?? [],
    answer: () => (chance.between(1, 10) <= plan.yesOfTen ? 'allow_once' : 'reject_once'),
  }
}

class Run {
  readonly #plan: Plan
  readonly #scene: Scene
  readonly #lives: Life[]
  readonly #views: View[] = []
  readonly #cuts: Cutting[] = []
  readonly #prompts = new Map<string, string>()
  #suspended = 0
  #sessionId: string | undefined

  constructor({ plan, scene, lives }: { plan: Plan; scene: Scene; lives: Life[] }) {
    this.#plan = plan
    this.#scene = scene
    this.#lives = lives
  }

  async play(traced: () => Promise<readonly Finding[]>): Promise<RunResult> {
    for (const plan of this.#plan.lives) await this.#badLife(plan)
    await this.#cutRecovery()
    const replay = await this.#calmLife()
    const { seed: _seed, story } = this.#plan
    const { home, effects } = this.#scene
    const journal = readJournal(home, this.#sessionId ?? '')
    const findings = check({
      views: this.#views,
      replay,
      journal,
      effects: readEffects(effects),
      prompts: this.#prompts,
      story: story.text,
    })
    return {
      plan: this.#plan,
      cuts: this.#cuts,
      counts: this.#cuts.every(({ phase }) => phase !== 'before any update'),
      suspended: this.#suspended,
      troubles: this.#lives.flatMap(({ troubles }) => troubles),
      findings: [...findings, ...this.#impurities(), ...(await traced())],
    }
  }

  /** A fault may come before the client has an answer; then the life was short, and no harm must be done. */
  async #badLife({ cut, queuesAnother }: LifePlan): Promise<void> {
    const life = this.#start(cut.kind === 'fault' ? [cut.fault] : [])
    try {
      await this.#open(life)
      life.prompt(this.#nextPrompt())
      if (queuesAnother) life.prompt(this.#nextPrompt())
      await life.untilCut(cut)
    } catch (error) {
      await life.client.kill()
      if (cut.kind !== 'fault') throw error
    }
    this.#views.push(life.view())
    this.#cuts.push({ phase: life.phase(), by: cut.kind === 'fault' ? cut.fault.point : cut.kind })
  }

  async #cutRecovery(): Promise<void> {
    const { recoveryCut } = this.#plan
    if (recoveryCut === undefined) return
    const life = this.#start([recoveryCut])
    // The session may be opened first if there was nothing to recover; either way nothing new is said.
    await life.load(this.#sessionId ?? '').catch(() => undefined)
    await life.client.kill()
    this.#views.push(life.view())
  }

  async #calmLife() {
    const life = this.#start()
    await this.#open(life)
    if (life.wasAsked) this.#suspended += 1
    // Nothing tells a v1 client how a turn ends that another connection had started; a prompt behind it is answered after it.
    if (life.wasAsked || this.#plan.promptsAgain) life.prompt(this.#nextPrompt())
    await life.untilEnded()
    const end = life.client.received.length
    const replay = updatesIn(await life.loadAgain())
    this.#views.push(life.view(end))
    await life.patiently(life.client.leave())
    return replay
  }

  #start(faults: ConstructorParameters<typeof Life>[2] = []): Life {
    const life = new Life(this.#scene, this.#lives.length + 1, faults)
    this.#lives.push(life)
    return life
  }

  async #open(life: Life): Promise<void> {
    if (this.#sessionId === undefined) this.#sessionId = await life.patiently(life.create())
    else await life.patiently(life.load(this.#sessionId))
  }

  #nextPrompt(): Prompt {
    const number = this.#prompts.size + 1
    const prompt = { promptId: `prompt-${number}`, text: `Tell the tale, for the ${number}. time.` }
    this.#prompts.set(prompt.promptId, prompt.text)
    return prompt
  }

  #impurities(): readonly Finding[] {
    return this.#lives.flatMap(({ client }) =>
      client.impurities.map((line): Finding => ({ kind: 'wrong', what: `stdout carried ${JSON.stringify(line)}` })),
    )
  }
}
