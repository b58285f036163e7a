/** Plays a scenario: clients, wires, disk, agents and crashes take their steps in the order that its actions say. */
import type { ToolResult } from '../../src/ports/tools.ts'
import { quiet } from './clock.ts'
import type { Link } from './link.ts'
import { Member, type Reply } from './member.ts'
import { Oversight } from './oversight.ts'
import { Owner } from './owner.ts'
import type { Action, Kind, Scenario } from './scenario.ts'
import { steps } from './speakers.ts'
import { Storage, type Trouble } from './storage.ts'
import { text } from './words.ts'

const REPLIES: readonly Reply[] = [
  'allow_once',
  'allow_once',
  'allow_always',
  'reject_once',
  'made up',
  'error',
  'cancelled',
]
const TROUBLES: readonly Trouble[] = ['full', 'io', 'lost answer', 'unreadable']

export class Simulation {
  readonly oversight = new Oversight(new Storage())
  readonly members: readonly Member[]
  owner: Owner
  #owners = 1
  readonly #slowDisk: boolean

  constructor({ clients, slowDisk }: Scenario) {
    this.#slowDisk = slowDisk
    this.owner = new Owner(this.oversight, this.#owners, slowDisk)
    this.members = Array.from({ length: clients }, (_, number) => new Member(this.oversight, number))
  }

  get links(): readonly Link[] {
    return this.members.flatMap(({ links }) => links)
  }

  async take(action: Action): Promise<void> {
    await this.#acts[action.kind](action)
    // Not always does everything arrive before the next thing happens.
    if (action.more < 0.25) return
    this.carry()
    if (action.more > 0.4) await quiet()
  }

  carry(): void {
    for (const { link } of this.members) link?.carry()
  }

  join(member: Member): void {
    member.connect((wire) => this.owner.accept(wire))
  }

  readonly #acts: Readonly<Record<Kind, (action: Action) => void | Promise<void>>> = {
    connect: ({ who }) => {
      if (this.members[who]?.link === undefined) this.#with(who, (member) => this.join(member))
    },
    new: ({ who }) => this.#with(who, (member) => member.create()),
    load: (action) => this.#withSession(action, (member, id) => member.open('session/load', id)),
    resume: (action) => this.#withSession(action, (member, id) => member.open('session/resume', id)),
    prompt: (action) => this.#withSession(action, (member, id) => member.prompt(id, false)),
    'prompt again': (action) => this.#withSession(action, (member, id) => member.prompt(id, true)),
    reply: (action) => this.#reply(action),
    cancel: (action) => this.#withSession(action, (member, id) => member.cancel(id)),
    withdraw: ({ who, roll }) => this.#with(who, (member) => member.withdraw(Math.floor(roll * 8))),
    close: (action) => this.#withSession(action, (member, id) => member.close(id)),
    rename: (action) => this.#withSession(action, (member, id) => member.rename(id)),
    fork: (action) => this.#withSession(action, (member, id) => member.fork(id, this.#placeIn(id, action.roll))),
    delete: (action) => this.#withSession(action, (member, id) => member.delete(id)),
    break: ({ who }) => this.members[who]?.link?.wire.break(),
    leave: ({ who }) => this.members[who]?.link?.wire.end(),
    stall: ({ who }) => this.#onLink(who, (link) => (link.isReading = false)),
    'read on': ({ who }) => this.#onLink(who, (link) => (link.isReading = true)),
    sip: ({ who, roll }) => this.members[who]?.link?.read(1 + Math.floor(roll * 4)),
    mute: ({ who }) => this.#onLink(who, (link) => (link.isWriting = false)),
    unmute: ({ who }) => this.#onLink(who, (link) => (link.isWriting = true)),
    disk: ({ roll, more }) => this.#serve(roll, 1 + Math.floor(more * 4)),
    trouble: ({ roll }) => this.owner.disk.trouble(pick(TROUBLES, roll) ?? 'full'),
    agent: ({ roll, more }) => this.#speak(roll, more),
    tool: ({ roll, more }) => this.finishTool(roll, more),
    time: ({ roll }) => this.owner.clock.advance(Math.floor(roll * 3_000)),
    kill: ({ roll }) => this.kill(roll),
    usurp: ({ roll }) => this.#usurp(roll),
    wait: () => quiet(),
  }

  #with(who: number, act: (member: Member) => void): void {
    const member = this.members[who]
    if (member !== undefined) act(member)
  }

  #onLink(who: number, act: (link: Link) => void): void {
    const link = this.members[who]?.link
    if (link !== undefined) act(link)
  }

  /** Mostly one that it has open. */
  #withSession({ who, roll, more, kind }: Action, act: (member: Member, sessionId: string) => void): void {
    const member = this.members[who]
    const attached = member?.link?.attached ?? []
    const stored = [...this.oversight.storage.log.keys()]
    const isAboutOwn = attached.length > 0 && (more < 0.9 || kind === 'prompt')
    const sessionId = pick(isAboutOwn && kind !== 'load' && kind !== 'resume' ? attached : stored, roll)
    if (member?.link !== undefined && sessionId !== undefined) act(member, sessionId)
  }

  /** Somewhere in what a session has said, or at its end. */
  #placeIn(id: string, roll: number): number | undefined {
    const { length } = this.oversight.storage.entries(id)
    return roll < 0.3 ? undefined : 1 + Math.floor(roll * length)
  }

  #reply({ who, roll, more }: Action): void {
    const asked = this.members.flatMap((member) => member.questions.map((question) => ({ member, question })))
    const chosen = asked[(who + Math.floor(more * 97)) % Math.max(1, asked.length)]
    chosen?.member.reply(chosen.question, pick(REPLIES, roll) ?? 'error')
  }

  #serve(roll: number, times: number): void {
    const { disk } = this.owner
    for (let n = 0; n < times; n += 1) disk.serve(Math.floor(roll * disk.waiting))
  }

  #speak(roll: number, more: number): void {
    const { agents } = this.owner
    agents.tell(Math.floor(roll * agents.desks.length), pick(steps, (more * 7) % 1) ?? 'word')
  }

  finishTool(roll: number, more: number): void {
    const { running } = this.owner
    const results: readonly (ToolResult | Error)[] = [
      { content: [text('done')], isError: false },
      { content: [text('no')], isError: true },
      new Error('the tool broke'),
    ]
    const result = pick(results, more)
    if (result !== undefined) running.splice(Math.floor(roll * running.length), 1)[0]?.(result)
  }

  /** kill -9, and another owner over what is left. */
  async kill(roll: number): Promise<void> {
    // What the kernel had taken may still arrive.
    if (roll < 0.5) for (const { link } of this.members) link?.carry(1)
    await this.owner.kill((index) => (roll * 10 + index) % 2 < 1)
    await quiet()
    this.#owners += 1
    this.owner = new Owner(this.oversight, this.#owners, this.#slowDisk)
  }

  /** Another process writes to a session, which the lock forbids and the journal survives. */
  async #usurp(roll: number): Promise<void> {
    const { storage } = this.oversight
    const id = pick([...storage.log.keys()], roll)
    const head = id === undefined ? undefined : await storage.journal.head(id)
    if (id === undefined || head === undefined) return
    const seq = head.row.lastSeq + 1
    const entry = { seq, at: 1, body: JSON.stringify({ kind: 'notice', text: `usurped ${seq}` }) }
    const append = { row: { ...head.row, lastSeq: seq }, entries: [entry], expected: head.row.lastSeq }
    // The owner may have been faster, and has then lost nothing.
    const isFirst = await storage.append(append).then(
      () => true,
      () => false,
    )
    if (isFirst) storage.lost.add(id)
  }
}

function pick<Value>(values: readonly Value[], roll: number): Value | undefined {
  return values[Math.floor(roll * values.length)]
}
