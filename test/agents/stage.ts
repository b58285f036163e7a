/** Sessions with external agents: an owner over a disk that outlives it, and the fake agents that it starts. */
import { join } from 'node:path'
import { rmSync } from 'node:fs'
import { openAgents } from '../../src/adapters/agent/agents.ts'
import { ExternalAgents, type ExternalAgentsOptions } from '../../src/adapters/agent/external/agents.ts'
import { AgentCatalogue } from '../../src/adapters/agent/external/catalogue.ts'
import { TakenSessions } from '../../src/adapters/agent/external/own-sessions/taken-sessions.ts'
import { RegistryIndex } from '../../src/adapters/agent/external/find/registry-index.ts'
import { InstalledAgents } from '../../src/adapters/agent/external/install/installed-agents.ts'
import type { OwnAgent } from '../../src/adapters/agent/external/launch.ts'
import { StoredOffers } from '../../src/adapters/agent/external/probe/stored-offers.ts'
import { systemClock } from '../../src/adapters/clock.ts'
import { openProcesses } from '../../src/adapters/process/open-processes.ts'
import type { Agents } from '../../src/ports/agent.ts'
import type { Clock } from '../../src/ports/clock.ts'
import type { FaultPoint } from '../../src/ports/fault.ts'
import type { Journal } from '../../src/ports/journal.ts'
import type { Processes } from '../../src/ports/process.ts'
import type { Content } from '../../src/ports/values/content.ts'
import type { Entry } from '../../src/session/domain/entries.ts'
import type { SessionConfig } from '../../src/session/handle.ts'
import { SessionRegistry } from '../../src/session/session-registry.ts'
import type { Session } from '../../src/session/session.ts'
import { freshDirectory } from '../e2e/parley.ts'
import { modelsOf } from '../model/puppet-model.ts'
import type { Case } from '../fake-agent/case.ts'
import { FakeAgent, hosted } from '../fake-agent/fake-agent.ts'
import { hostedAgents } from '../fake-agent/hosted-agents.ts'
import { signal, until } from '../fixtures/process/running.ts'
import { Disk } from '../sim/disk.ts'
import { Reader } from '../sim/reader.ts'
import { TestRules } from '../sim/rules.ts'
import { TestTools } from '../sim/tools.ts'

export class Stage {
  readonly directory = freshDirectory()
  readonly disk = new Disk()
  readonly reported: unknown[] = []
  readonly #own: OwnAgent[] = []
  readonly #fakes: FakeAgent[] = []
  readonly #outside: ExternalAgentsOptions['outside']
  readonly #quietMs: number | undefined
  readonly #clock: Clock
  #owner: Owner
  #death: { readonly point: FaultPoint; times: number } | undefined

  /** `outside`: how soon the agent's own list of sessions is looked at; `quietMs`: when its silence is told. */
  constructor(outside?: ExternalAgentsOptions['outside'], quietMs?: number, clock = systemClock) {
    this.#outside = outside
    this.#quietMs = quietMs
    this.#clock = clock
    this.#owner = this.#newOwner()
  }

  /** A fake agent under a name; `settings` are those of `[agents.NAME]`. */
  fake(plan: Case = {}, settings: Partial<OwnAgent> = {}): FakeAgent {
    const { name = 'fake' } = settings
    const fake = new FakeAgent(join(this.directory, name), plan)
    const { command, args } = fake
    const quirks = { replayAfterResponseMs: 50, ...settings.quirks }
    this.#own.push({ name, command, args, env: {}, passEnv: [], ...settings, quirks })
    this.#fakes.push(fake)
    return fake
  }

  get agents(): Agents {
    return this.#owner.agents
  }

  get sessions(): SessionRegistry {
    return this.#owner.sessions
  }

  get logDirectory(): string {
    return join(this.directory, 'logs')
  }

  get here(): SessionConfig {
    return { cwd: this.directory, additionalDirectories: [], mcpServers: [] }
  }

  async open(agent = 'acp:fake'): Promise<{ readonly session: Session; readonly reader: Reader }> {
    const session = await this.sessions.create({ ...this.here, agent })
    return { session, reader: await this.join(session) }
  }

  async join(session: Session): Promise<Reader> {
    const reader = new Reader(this.disk, session.id)
    const subscription = await session.subscribe(0, reader, { config: this.here, client: { name: 'reader' } })
    await subscription.replay()
    await subscription.goLive()
    return reader
  }

  /** The processes of the owner die, and the next owner has nothing but the disk. */
  async killed(id: string): Promise<{ readonly session: Session; readonly reader: Reader }> {
    const before = this.#owner
    before.isGone = true
    await Promise.all(this.#fakes.flatMap((fake) => fake.processes.map((pid) => killed(pid))))
    await before.processes.close()
    this.#owner = this.#newOwner()
    await this.sessions.recover()
    return this.reopened(id)
  }

  /** The owner dies when it has come to this point so many times, from now on: it goes no further, and stores nothing more. */
  diesAt(point: FaultPoint, times: number): void {
    this.#death = { point, times }
  }

  get isDead(): boolean {
    return this.#owner.isGone
  }

  async reopened(id: string): Promise<{ readonly session: Session; readonly reader: Reader }> {
    const session = await this.sessions.open(id, this.here)
    return { session, reader: await this.join(session) }
  }

  async entries(id: string): Promise<readonly Entry[]> {
    return this.disk.entries(id)
  }

  async #reached(point: FaultPoint, owner: { isGone: boolean }): Promise<void> {
    if (point === this.#death?.point) this.#death.times -= 1
    if (this.#death?.times === 0) {
      this.#death = undefined
      owner.isGone = true
    }
    return owner.isGone ? new Promise(() => undefined) : undefined
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.sessions.halt()
    await this.#owner.processes.close()
    rmSync(this.directory, { recursive: true, force: true })
  }

  #newOwner(): Owner {
    const owner: { isGone: boolean } = { isGone: false }
    const clock = this.#clock
    const boot = { home: `agents-${clock.id().slice(0, 8)}`, id: clock.id() }
    const processes = hostedAgents(openProcesses({ boot, environment: process.env, clock }))
    const report = (error: unknown): void => void this.reported.push(error)
    const home = join(this.directory, 'state')
    const installed = new InstalledAgents(home)
    const { directory } = installed
    const catalogue = new AgentCatalogue({
      own: () => this.#own,
      environment: () => ({ PATH: process.env['PATH'] ?? '' }),
      installed,
      registry: new RegistryIndex({ directory, url: 'http://127.0.0.1:1/', clock }),
      offers: new StoredOffers(directory),
    })
    const clientInfo = { name: 'parley', version: '0.0.0' }
    const { logDirectory } = this
    const shared = { processes, clock, report }
    const external = new ExternalAgents({
      ...shared,
      catalogue,
      clientInfo,
      logDirectory,
      taken: new TakenSessions(directory),
      ...(this.#outside && { outside: this.#outside }),
      ...(this.#quietMs !== undefined && { quietMs: this.#quietMs }),
    })
    const agents = openAgents({
      default: 'guide',
      clock,
      models: modelsOf(),
      maxSteps: 3,
      titles: false,
      promptDirectory: undefined,
      external: async () => external,
    })
    const faults = { at: (point: FaultPoint) => this.#reached(point, owner) }
    const world = { journal: journalOf(this.disk, owner), clock, faults, agents }
    const sessions = new SessionRegistry({ ...world, tools: new TestTools(), rules: new TestRules(), report })
    return Object.assign(owner, { sessions, processes, agents })
  }
}

/** So many times as fast as the machine's: for whoever waits in vain, or, below 1, for who must not give up on a busy machine. */
export function pacedClock(times: number): Clock {
  return {
    ...systemClock,
    monotonicNow: () => systemClock.monotonicNow() * times,
    sleep: (ms, signal) => systemClock.sleep(ms / times, signal),
    setTimer: (ms, run) => systemClock.setTimer(ms / times, run),
  }
}

interface Owner {
  readonly agents: Agents
  readonly sessions: SessionRegistry
  readonly processes: Processes
  isGone: boolean
}

/** An owner that was killed writes no more. */
function journalOf(disk: Disk, owner: { readonly isGone: boolean }): Journal {
  return {
    append: (append) => (owner.isGone ? new Promise(() => undefined) : disk.append(append)),
    fork: (source, append) => disk.fork(source, append),
    find: (id, wanted, limits) => disk.find(id, wanted, limits),
    read: (id, from, signal) => disk.read(id, from, signal),
    page: (id, from, limits) => disk.page(id, from, limits),
    watch: (listener) => disk.watch(listener),
    head: (id) => disk.head(id),
    list: (query) => disk.list(query),
    delete: (id) => (owner.isGone ? new Promise(() => undefined) : disk.delete(id)),
    close: async () => undefined,
  }
}

async function killed(pid: number): Promise<void> {
  const kill = hosted.get(pid)
  if (kill !== undefined) return kill()
  signal(pid, 'SIGKILL')
}

let prompts = 0

/** Sends a prompt without waiting for its end. */
export async function sent(session: Session, ...content: readonly (string | Content)[]): Promise<string> {
  prompts += 1
  const promptId = `prompt-${prompts}`
  const blocks = content.map((one) => (typeof one === 'string' ? ({ type: 'text', text: one } as const) : one))
  await session.prompt(promptId, blocks)
  return promptId
}

type TurnEnded = Entry & { readonly kind: 'turn_ended' }

export async function endOf(reader: Reader, promptId: string): Promise<TurnEnded> {
  const find = () =>
    reader.entries.find((entry): entry is TurnEnded => entry.kind === 'turn_ended' && entry.promptId === promptId)
  await until(() => find() !== undefined)
  return find() as TurnEnded
}

/** Sends a prompt and waits for its end. */
export async function prompted(session: Session, reader: Reader, ...content: readonly (string | Content)[]) {
  return endOf(reader, await sent(session, ...content))
}

export function notices(reader: Reader): readonly string[] {
  return reader.entries.flatMap((entry) => (entry.kind === 'notice' ? [entry.text] : []))
}

/** How often each method of these was called. */
export function called(fake: FakeAgent, ...methods: readonly string[]): readonly number[] {
  return methods.map((method) => fake.received(method).length)
}

export const OPENING = ['session/new', 'session/load', 'session/resume'] as const

/** All that was sent with the last prompt. */
export function lastPrompt(fake: FakeAgent): readonly string[] {
  const { prompt } = fake.received('session/prompt').at(-1) ?? {}
  return (prompt as readonly { text: string }[]).map(({ text }) => text)
}
