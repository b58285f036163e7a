/** The end of a run: the disk is well, every turn comes to its end, everyone reads; then all that was promised is checked. */
import type { Journal } from '../../src/ports/journal.ts'
import { checkJournal } from './check-journal.ts'
import { checkLink } from './check-link.ts'
import { quiet } from './clock.ts'
import type { Link } from './link.ts'
import { Member } from './member.ts'
import type { Finding } from './oversight.ts'
import type { Simulation } from './simulation.ts'
import { CONGESTED } from './wire.ts'

const ROUNDS = 60
/** What a batch or a page of a replay may bring on top of what makes a client count as slow, for each of its sessions. */
const LARGEST_WRITE = 64 * 1024

export async function comeToRest(simulation: Simulation): Promise<void> {
  const rest = new Rest(simulation)
  await rest.play()
}

class Rest {
  readonly #simulation: Simulation
  readonly #auditor: Member
  /** From this request of the auditor on, nothing may fail. */
  #judgedFrom = 0

  constructor(simulation: Simulation) {
    this.#simulation = simulation
    this.#auditor = new Member(simulation.oversight, 1_001)
  }

  async play(): Promise<void> {
    const { owner, members, links, oversight } = this.#simulation
    owner.disk.release()
    for (const link of links) link.isWriting = true
    for (const link of links) if (!link.isOpen) link.wire.break()
    await this.#settle()
    // What could not be read is read by now.
    await owner.clock.advance(1_500)
    await this.#settle()
    for (const { link, name } of members) if (link?.isReading === true) this.#checkAsked(name, link)
    await this.#audit()
    await this.#winBack()
    await this.#endTurns()
    await this.#promptOnceMore()
    this.#check((link) => link.isReading)
    for (const link of links) link.isReading = true
    await this.#settle()
    await this.#endTurns()
    this.#check((link) => link.isOpen)
    for (const id of oversight.storage.log.keys()) this.#found(checkJournal(id, oversight))
    for (const link of links) this.#checkOwed(link)
  }

  #checkOwed({ wire, views }: Link): void {
    const sessions = new Set(views.map(({ sessionId }) => sessionId)).size
    const most = CONGESTED + LARGEST_WRITE * Math.max(1, sessions)
    if (wire.mostOwed > most) this.#simulation.oversight.found(8, `${wire.mostOwed} characters were owed to one client`)
  }

  /** Until nothing moves any more by itself. */
  async #settle(): Promise<void> {
    for (let calm = 0; calm < 3;) {
      const before = this.#heard()
      this.#simulation.carry()
      this.#auditor.link?.carry()
      await quiet()
      calm = this.#heard() === before ? calm + 1 : 0
    }
  }

  #heard(): number {
    const { links, oversight } = this.#simulation
    const told = [...links, ...this.#auditor.links].flatMap(({ views }) => views.map((view) => view.told.length))
    return told.reduce((sum, count) => sum + count, oversight.storage.log.size)
  }

  /** Whoever reads has been asked what is open. */
  #checkAsked(who: string, link: Link): void {
    const { oversight } = this.#simulation
    for (const sessionId of link.attached) {
      const entries = oversight.storage.entries(sessionId)
      const view = link.current(sessionId)
      const last = entries.findLast(({ kind }) => kind === 'permission_requested' || kind === 'permission_resolved')
      if (last?.kind !== 'permission_requested' || oversight.storage.lost.has(sessionId)) continue
      if (view?.replaying !== false || view.isOver || link.opening(sessionId) !== undefined) continue
      const isAsked = link.questions.some((one) => one.toolCallId === last.toolCallId && one.sessionId === sessionId)
      if (!isAsked) oversight.found(5, `${who} is not asked about ${last.toolCallId} of ${sessionId}`)
    }
  }

  /** One more client, which has seen nothing, opens everything. */
  async #audit(): Promise<void> {
    this.#simulation.join(this.#auditor)
    for (const { id } of await this.#sessions()) this.#auditor.open('session/load', id)
    await this.#settle()
  }

  async #endTurns(): Promise<void> {
    for (let round = 0; round < ROUNDS; round += 1) {
      const unfinished = await this.#unfinished()
      if (unfinished.length === 0) return
      for (const id of unfinished) this.#end(id)
      await this.#work()
    }
    this.#simulation.oversight.found(2, `turns do not end: ${(await this.#unfinished()).join(', ')}`)
  }

  #end(sessionId: string): void {
    // What its owner has let go of has to be opened again first.
    if (this.#simulation.oversight.storage.lost.has(sessionId)) this.#auditor.open('session/load', sessionId)
    this.#auditor.cancel(sessionId)
  }

  /** Everyone who waits for a word, a result or the time gets it. */
  async #work(): Promise<void> {
    const { owner } = this.#simulation
    await this.#settle()
    while (owner.agents.desks.length > 0) owner.agents.tell(0, 'end')
    while (owner.running.length > 0) this.#simulation.finishTool(0, 0)
    await owner.clock.advance(2_500)
    await this.#settle()
  }

  #sessions(): ReturnType<Journal['list']> {
    return this.#simulation.oversight.storage.journal.list({ limit: 1_000 })
  }

  async #unfinished(): Promise<readonly string[]> {
    const rows = await this.#sessions()
    return rows.flatMap(({ id, phase }) => (phase === 'idle' || phase === 'closed' ? [] : [id]))
  }

  /** After all that, the session still works. */
  async #promptOnceMore(): Promise<void> {
    const sessions = await this.#sessions()
    const attached = this.#auditor.link?.attached ?? []
    for (const { id, phase } of sessions)
      if (phase === 'closed' || !attached.includes(id)) this.#auditor.open('session/load', id)
    await this.#settle()
    for (const { id } of sessions) this.#auditor.prompt(id, false)
    await this.#settle()
    await this.#work()
    for (const { method, sessionId, answers } of this.#auditor.link?.asked.slice(this.#judgedFrom) ?? []) {
      const isGone = this.#simulation.oversight.storage.deleted.has(sessionId)
      if (method === 'initialize' || isGone || answers[0]?.error === undefined) continue
      this.#simulation.oversight.found(
        2,
        `at rest ${method} of ${sessionId} fails: ${JSON.stringify(answers[0].error)}`,
      )
    }
  }

  /** Whoever first writes to a session that another writer has taken hears so; opened again, it works. */
  async #winBack(): Promise<void> {
    const sessions = [...this.#simulation.oversight.storage.lost].filter(
      (id) => !this.#simulation.oversight.storage.deleted.has(id),
    )
    for (const id of sessions) this.#auditor.prompt(id, false)
    await this.#settle()
    await this.#work()
    for (const id of sessions) this.#auditor.open('session/load', id)
    await this.#settle()
    this.#judgedFrom = this.#auditor.link?.asked.length ?? 0
  }

  #check(isComplete: (link: Link) => boolean): void {
    const { members, oversight } = this.#simulation
    for (const { name: who, links } of [...members, this.#auditor]) {
      const asked = links.flatMap((link) => link.asked)
      for (const link of links) this.#found(checkLink({ who, link, asked, oversight }, link.isOpen && isComplete(link)))
    }
  }

  #found(findings: readonly Finding[]): void {
    for (const { promise, what } of findings) this.#simulation.oversight.found(promise, what)
  }
}
