/** A fake agent that tells the tales of a town: a real process behind every session, and a log of all that it was sent. */
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Move } from '../../../fake-agent/case.ts'
import { FakeAgent } from '../../../fake-agent/fake-agent.ts'
import type { Finding } from '../../evidence.ts'
import type { ChaosPlan } from '../plan.ts'
import type { Tally, Teller } from '../teller.ts'
import { GATE, TIMES, caseOf } from './kinds.ts'

/** How long it may ignore a cancel before Parley ends it. Milliseconds; real agents get more. */
const CANCEL_KILL = 1_500

const ASKED = ['session/new', 'session/load', 'session/resume', 'session/prompt', 'session/cancel']

export class FakeTeller implements Teller {
  readonly agent = 'fake'
  readonly #home: string
  #fake: FakeAgent
  #chapters = 0

  constructor(directory: string) {
    this.#home = join(directory, 'fake')
    this.#fake = new FakeAgent(this.#home)
    const { command, args } = this.#fake
    const config = join(directory, 'config', 'parley')
    mkdirSync(config, { recursive: true })
    const entry = `command = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}`
    const quirks = `cancelKillMs = ${CANCEL_KILL}`
    writeFileSync(join(config, 'parley.toml'), `[agents.fake]\n${entry}\n\n[agents.fake.quirks]\n${quirks}\n`)
  }

  /** In the same place, without memory or log of what was before. */
  async becomes({ story, kind }: ChaosPlan): Promise<void> {
    this.#chapters += 1
    if (existsSync(this.#home)) renameSync(this.#home, `${this.#home}-${this.#chapters}`)
    const tale = { moves: story.steps as readonly unknown[] as readonly Move[] }
    this.#fake = new FakeAgent(this.#home, kind === undefined ? {} : caseOf(kind, tale))
  }

  processes(): readonly number[] {
    return this.#fake.processes
  }

  calm(): void {
    const times = join(this.#home, 'times')
    mkdirSync(times, { recursive: true })
    for (const [name, count] of Object.entries(TIMES))
      for (let time = 0; time < count; time += 1) writeFileSync(join(times, `${name}-${time}`), '')
    this.#fake.open(GATE)
  }

  tally(): Tally {
    const counts = ASKED.map((method) => [method, this.#fake.received(method).length] as const)
    const starts = this.#fake.log.filter(({ start }) => start !== undefined).length
    return { processes: starts, ...Object.fromEntries(counts) }
  }

  /** At most one send per prompt, whoever died meanwhile. */
  findings(): readonly Finding[] {
    const sent = this.#fake.prompts
    return sent.flatMap((text, at): readonly Finding[] =>
      sent.indexOf(text) === at ? [] : [{ kind: 'doubled', what: `“${text}” was sent to the agent twice` }],
    )
  }
}
