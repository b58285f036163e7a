/** One life of a simulated server: the real edge and the real core over a disk, a clock, agents and tools that obey. */
import { localUser } from '../../src/edge/method-access.ts'
import { serveConnection } from '../../src/edge/acp/connection.ts'
import { isParleyError } from '../../src/errors/parley-error.ts'
import type { ToolResult } from '../../src/ports/tools.ts'
import { SessionRegistry } from '../../src/session/session-registry.ts'
import { TestClock } from './clock.ts'
import type { Oversight } from './oversight.ts'
import { Speakers } from './speakers.ts'
import { SimDisk } from './storage.ts'
import { TestRules } from './rules.ts'
import { TestTools } from './tools.ts'
import { text } from './words.ts'
import type { SimWire } from './wire.ts'

const PATIENCE = 2_000

export class Owner {
  readonly clock: TestClock
  readonly disk: SimDisk
  readonly agents: Speakers
  /** Tools that run, and how each is told to be done. */
  readonly running: ((result: ToolResult | Error) => void)[] = []
  readonly #oversight: Oversight
  readonly #wires = new Set<SimWire>()
  readonly #sessions: Promise<SessionRegistry>

  constructor(oversight: Oversight, number: number, isHeld: boolean) {
    this.#oversight = oversight
    this.clock = new TestClock(`o${number}`)
    this.disk = new SimDisk(oversight.storage)
    if (isHeld) this.disk.hold()
    this.agents = new Speakers(oversight, `o${number}`)
    this.#sessions = this.#open()
  }

  accept(wire: SimWire): void {
    const { clock, agents } = this
    wire.onSend = (lines) => this.#oversight.sent(lines)
    this.#wires.add(wire)
    const serving = serveConnection(wire, {
      sessions: this.#sessions,
      principal: localUser('unix socket'),
      info: { name: 'parley', title: 'Parley', version: '0' },
      agents,
      clock,
      report: (error) => this.#report(error),
      untilReplyTimeout: () => new Promise((resolve) => clock.setTimer(PATIENCE, resolve)),
    })
    serving.then(
      () => wire.close(),
      (error: unknown) => this.#oversight.found(0, `a connection ended with ${String(error)}`),
    )
  }

  /** kill -9: nothing of it moves any more. */
  async kill(gotThere: (index: number) => boolean): Promise<void> {
    await this.disk.cut(gotThere)
    for (const wire of this.#wires) wire.break()
  }

  async #open(): Promise<SessionRegistry> {
    const tools = new TestTools()
    tools.add('test__touch', (args) => this.#touch(args))
    tools.add('test__look', async () => ({ content: [text('seen')], isError: false }), {
      builtin: true,
      readOnly: true,
    })
    const { disk: journal, clock, agents } = this
    const faults = { at: () => undefined }
    const report = (error: unknown) => this.#report(error)
    const sessions = new SessionRegistry({ journal, clock, faults, agents, tools, rules: new TestRules(), report })
    await sessions.recover()
    return sessions
  }

  async #touch(args: unknown): Promise<ToolResult> {
    this.#oversight.effect((args as { readonly label: string }).label)
    const result = await new Promise<ToolResult | Error>((done) => this.running.push(done))
    if (result instanceof Error) throw result
    return result
  }

  /** The log is for what the world did; anything else is a bug. */
  #report(error: unknown): void {
    if (!isParleyError(error))
      this.#oversight.found(0, `the log says ${error instanceof Error ? error.stack : String(error)}`)
  }
}
