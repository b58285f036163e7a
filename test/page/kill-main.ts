/** `npm run kill -- page`: kills the server under a page that prompts, answers and scrolls, and says what was lost, doubled or ran twice. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Page } from 'playwright-core'
import { setup as build } from '../build.setup.ts'
import { type Chance, chanceOf } from '../series/chance.ts'
import { SERIES_OPTIONS, countsOf, playSeries, seriesOf } from '../series/series.ts'
import { PageStage } from './stage.ts'

const USAGE = `npm run kill -- page [--runs N | --seconds N] [--seed S]
  --runs     how many kills (26)
  --seconds  as many kills as fit into that time instead
  --seed     of the first kill: its moment, and what the page does meanwhile; the next one has the next (random)`

const { values } = parseArgs({ options: SERIES_OPTIONS })

/** A kill comes this long after the prompt at most: before its turn, in it, at its question, or after it. */
const LATEST_MS = 1_500
const LATE_MS = 400
const SETTLE_MS = 90_000
/** Then another session begins, so that a run does not depend on how many there were. */
const RUNS_OF_A_SESSION = 25

/** What the page shows of one run: its prompts, the words of its answer in their order, and whether its end is there. */
interface Sight {
  readonly prompts: number
  readonly words: readonly number[]
  readonly hasEnded: boolean
  /** What was not sent, or came back. */
  readonly draft: string
  readonly isOffline: boolean
  readonly isRunning: boolean
  readonly asks: number
}

function look(page: Page, run: number): Promise<Sight> {
  return page.evaluate((run) => {
    const all = [...document.querySelectorAll<HTMLElement>('.row')]
    const said = all.map((row) => (row.querySelector('.answer') === null ? '' : row.innerText)).join(' ')
    return {
      prompts: all.filter((row) => (row.querySelector('.prompt')?.textContent ?? '').includes(`Run ${run}!`)).length,
      words: [...said.matchAll(/r(\d+)w(\d+)\b/gu)].filter(([, of]) => Number(of) === run).map(([, , n]) => Number(n)),
      hasEnded: said.includes(`Run ${run} ends.`),
      draft: document.querySelector<HTMLTextAreaElement>('.write textarea')?.value ?? '',
      isOffline: document.querySelector('[aria-label="Send when connected"], .offline') !== null,
      isRunning:
        document.querySelector('.stop, [aria-label="Stop"]') !== null || document.querySelector('.queue li') !== null,
      asks: document.querySelectorAll('.dock .card .options button').length,
    }
  }, run)
}

class KillRun {
  readonly #stage: PageStage
  readonly #page: Page
  readonly #run: number
  readonly #chance: Chance
  readonly faults: string[] = []
  comesBackMs = 0
  /** In which the kill came. */
  moment = ''

  constructor(stage: PageStage, page: Page, { number, seed }: { readonly number: number; readonly seed: number }) {
    this.#stage = stage
    this.#page = page
    this.#run = number
    this.#chance = chanceOf(seed)
  }

  async play(): Promise<void> {
    const run = this.#run
    const command = `echo ${run} >> effects`
    this.#stage.server.play([
      { chunk: `r${run}w{n} `, times: 200, everyMs: 2 },
      { toolCall: { toolCallId: `call-${run}`, name: 'run_command', arguments: { command }, ask: true } },
      { chunk: `Run ${run} ends.` },
    ])
    await this.#page.getByLabel('Message to the agent').fill(`Run ${run}!`)
    await this.#page.keyboard.press('Enter')
    // A third of the kills come about the question and its answer.
    const isLate = this.#chance.happens(1 / 3)
    if (isLate) await this.#page.locator('.dock .card').waitFor()
    const before = await this.#disturb(this.#chance.between(0, isLate ? LATE_MS : LATEST_MS))
    await this.#stage.server.kill()
    const seen = await look(this.#page, run)
    // What is asked is withdrawn with the connection, so it is what was seen before.
    this.moment = momentOf({ ...seen, asks: before.asks })
    await this.#stage.server.listen()
    const began = performance.now()
    await this.#settle(() => (this.comesBackMs = performance.now() - began))
    await this.#judge([before, seen])
  }

  /** Answers and scrolls as a reader would, until the kill. Returns what was shown last. */
  async #disturb(forMs: number): Promise<Sight> {
    const end = performance.now() + forMs
    let sight = await look(this.#page, this.#run)
    while (performance.now() < end) {
      if (sight.asks > 0 && this.#chance.happens(1 / 4)) await this.#allow()
      else if (this.#chance.happens(1 / 3)) await this.#page.mouse.wheel(0, this.#chance.happens(1 / 2) ? -300 : 900)
      await pause(Math.min(20, Math.max(0, end - performance.now())))
      sight = await look(this.#page, this.#run)
    }
    return sight
  }

  async #allow(): Promise<void> {
    const button = this.#page.locator('.dock .card .options button').first()
    // It may be gone meanwhile.
    await button.click({ timeout: 1_000 }).catch(() => undefined)
  }

  /** Until nothing runs and nothing is asked. The page does all of it by itself but for the answer. */
  async #settle(back: () => void): Promise<void> {
    const end = performance.now() + SETTLE_MS
    let isBack = false
    for (let quiet = 0; quiet < 6;) {
      const { isOffline, isRunning, asks } = await look(this.#page, this.#run)
      if (!isOffline && !isBack) back()
      isBack ||= !isOffline
      quiet = isOffline || isRunning ? 0 : quiet + 1
      if (asks > 0 && !isOffline) await this.#allow()
      if (performance.now() > end)
        throw new Error(`run ${this.#run} does not settle: ${JSON.stringify(await look(this.#page, this.#run))}`)
      await pause(50)
    }
  }

  async #judge(before: readonly Sight[]): Promise<void> {
    await this.#page.locator('.rows').press('End')
    const after = await look(this.#page, this.#run)
    await this.#page.reload()
    await this.#page.locator('.rows .row').first().waitFor()
    await this.#settle(() => undefined)
    const anew = await look(this.#page, this.#run)
    const ran = effectsOf(this.#stage).filter((one) => one === this.#run).length
    const most = Math.max(...before.map(({ words }) => words.length))
    const check = (isRight: boolean, what: string): void => void (isRight || this.faults.push(what))
    for (const [name, { prompts, words, draft, hasEnded }] of Object.entries({ after, anew })) {
      check(prompts <= 1, `${name}: the prompt is there ${prompts} times`)
      check(prompts === 1 || draft.includes(`Run ${this.#run}!`), `${name}: the prompt is lost`)
      check(
        words.every((one, n) => one === n + 1),
        `${name}: words are lost or doubled: ${words.join(' ').slice(0, 200)}`,
      )
      check(words.length >= most, `${name}: ${most} words were shown, and ${words.length} are`)
      check(!hasEnded || ran === 1, `${name}: it has ended, and ran ${ran} times`)
    }
    check(ran <= 1, `it ran ${ran} times`)
    check(
      after.words.length === anew.words.length,
      `a reload shows ${anew.words.length} words instead of ${after.words.length}`,
    )
    if (anew.draft !== '') await this.#page.getByLabel('Message to the agent').fill('')
  }
}

function momentOf({ prompts, words, asks, hasEnded }: Sight): string {
  if (hasEnded) return 'after the end'
  if (asks > 0) return 'at the question'
  if (words.length > 0) return 'in the answer'
  return prompts > 0 ? 'before the answer' : 'as it was sent'
}

function effectsOf({ server }: PageStage): readonly number[] {
  const path = join(server.work, 'effects')
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n').map(Number) : []
}

async function main(): Promise<number> {
  if (values.help) {
    console.log(USAGE)
    return 0
  }
  await build()
  const stage = await PageStage.openAlone()
  const page = await stage.device()
  try {
    let number = 0
    // One after the other: they share the page.
    const runs = await playSeries(
      { ...seriesOf(values, { runs: 26, jobs: 1 }), jobs: 1 },
      {
        async play(seed) {
          if (number % RUNS_OF_A_SESSION === 0) await begin(stage, page)
          const run = new KillRun(stage, page, { number: (number += 1), seed })
          await run.play()
          return [{ seed, run }]
        },
        findings: ({ run: { faults } }) => faults,
        title: ({ seed, run: { moment } }) => `seed ${seed}, killed ${moment}:`,
        again: ({ seed }) => `npm run kill -- page --runs 1 --seed ${seed}`,
      },
    )
    return report(
      runs.map(({ run }) => run),
      [...new Set(stage.complaints)],
    )
  } finally {
    await stage.close()
  }
}

/** Prints it, and gives the exit code. */
function report(runs: readonly KillRun[], complaints: readonly string[]): number {
  const moments = countsOf(runs.map(({ moment }) => moment)).map(([moment, count]) => `${count} ${moment}`)
  const times = runs.map(({ comesBackMs }) => comesBackMs).toSorted((one, other) => one - other)
  const seconds = (ms = 0): string => `${(ms / 1000).toFixed(1)} s`
  const faulty = runs.filter(({ faults }) => faults.length > 0).length
  console.log(
    `${runs.length} kills (${moments.join(', ')}): ${faulty} faulty. ` +
      `The page was back ${seconds(times[times.length >> 1])} after the server, at most ${seconds(times.at(-1))}.`,
  )
  for (const complaint of complaints) console.log(`the page complained: ${complaint}`)
  return faulty === 0 && complaints.length === 0 ? 0 : 1
}

async function begin(stage: PageStage, page: Page): Promise<void> {
  stage.server.play([{ chunk: 'Ready.' }])
  await stage.newSession(page, 'Begin.')
  await page.locator('.answer', { hasText: 'Ready.' }).waitFor()
}

// What the browser left open does not keep it.
process.exit(await main())
