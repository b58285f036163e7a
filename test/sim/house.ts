/** A whole owner of sessions over a test's disk, clock, agent and tools; it can be killed and started again. */
import type { FaultPoint } from '../../src/ports/fault.ts'
import { SessionRegistry } from '../../src/session/session-registry.ts'
import type { Session } from '../../src/session/session.ts'
import { TestClock, quiet } from './clock.ts'
import { Disk } from './disk.ts'
import { Puppets } from './puppet.ts'
import { Reader } from './reader.ts'
import { TestRules } from './rules.ts'
import { TestTools } from './tools.ts'
import { text } from './words.ts'

export const here = { cwd: '/home/ada', additionalDirectories: [], mcpServers: [] }

export class House {
  readonly clock = new TestClock()
  readonly disk: Disk
  readonly agents = new Puppets()
  readonly agent = this.agents.named('puppet')
  readonly tools = new TestTools()
  readonly rules = new TestRules()
  readonly reported: unknown[] = []
  /** What happens at a named point; nothing unless the test says so. */
  fault: (point: FaultPoint) => void | Promise<void> = () => {}
  readonly sessions: SessionRegistry

  constructor(disk = new Disk()) {
    this.disk = disk
    const { clock, agents, tools, rules } = this
    const faults = { at: (point: FaultPoint) => this.fault(point) }
    this.sessions = new SessionRegistry({
      journal: disk,
      clock,
      faults,
      agents,
      tools,
      rules,
      report: (error) => this.reported.push(error),
    })
  }

  /** A new session, and somebody who reads it live from its beginning. */
  async open(): Promise<{ session: Session; reader: Reader }> {
    const session = await this.sessions.create(here)
    return { session, reader: await this.join(session) }
  }

  async join(session: Session, from = 0): Promise<Reader> {
    const reader = new Reader(this.disk, session.id)
    const subscription = await session.subscribe(from, reader, { config: here, client: { name: 'reader' } })
    await subscription.replay()
    await subscription.goLive()
    return reader
  }

  /** kill -9: the next owner has nothing but the disk, recovers, and opens the session again. */
  async killed(session: Session): Promise<{ house: House; session: Session; reader: Reader }> {
    const house = new House(this.disk)
    house.agent.script = this.agent.script
    await house.sessions.recover()
    const reopened = await house.sessions.open(session.id, here)
    return { house, session: reopened, reader: await house.join(reopened) }
  }
}

export async function prompted(session: Session, promptId: string, words = 'Hello'): Promise<void> {
  await session.prompt(promptId, [text(words)])
  await quiet()
}
