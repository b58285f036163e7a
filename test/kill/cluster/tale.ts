/** One session of a run, and its clients: each at any node over another transport, and at any other one when its connection is lost. */
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Fields, type Message, updatesIn } from '../../e2e/message.ts'
import { scriptAgent } from '../../e2e/parley.ts'
import { until } from '../../fixtures/process/running.ts'
import { type Chance, chanceOf } from '../../series/chance.ts'
import { Goer, type Sent, type Wire, promptRaw } from '../chaos/goer.ts'
import { judge } from '../chaos/judge.ts'
import type { Finding } from '../evidence.ts'
import { readEffects } from '../journal-file.ts'
import { type Phase, phaseOf } from '../phase.ts'
import { patiently } from '../town.ts'
import { checkEpochs, checkOwners, readSigned } from './check-owners.ts'
import type { Over } from './node.ts'
import type { ClusterPlan } from './plan.ts'
import type { Stage } from './stage.ts'

const SERVER = new URL('../appending-server.sh', import.meta.url).pathname
const WAYS: readonly Over[] = ['socket', 'WebSocket', 'HTTP']
/** How long a tool may take to be gone with its session. Milliseconds. */
const FAREWELL = 15_000
/** How often a client tries to make a session, to load one, or to close it. */
const TRIES = 25

export class Tale {
  readonly sent: Sent[] = []
  readonly sessionId: string
  readonly #stage: Stage
  readonly #plan: ClusterPlan
  readonly #chance: Chance
  readonly #directory: string
  readonly #clients: (readonly [over: Over, client: Goer])[] = []
  readonly #answered = new Set<Message['id']>()

  private constructor(stage: Stage, plan: ClusterPlan, { sessionId, directory, number }: Begun) {
    this.#stage = stage
    this.#plan = plan
    this.#directory = directory
    this.#chance = chanceOf(plan.seed * 10 + number)
    this.sessionId = sessionId
  }

  /** `number`: of this session among those of the run. */
  static async begin(stage: Stage, plan: ClusterPlan, number: number): Promise<Tale> {
    // The same seed may come twice on one stage.
    const directory = mkdtempSync(join(stage.directory, `tale-${plan.seed}-${number}-`))
    const agent = await scriptAgent(directory, plan.story.steps)
    const chance = chanceOf(plan.seed * 10 + number)
    const { creator, sessionId } = await again(stage, 'a session', async () => {
      const client = await stage.anyNode(chance).client('socket', agent)
      const { result, error } = await client.request('session/new', openingIn(directory))
      if (result === undefined) throw new Error(`no session: ${error?.message}`)
      return { creator: client, sessionId: String(result['sessionId']) }
    })
    const tale = new Tale(stage, plan, { sessionId, directory, number })
    for (const over of WAYS) tale.#clients.push([over, await tale.#visit(over)])
    await creator.leave()
    const prompting = plan.isLong ? tale.#clients.slice(0, 1) : tale.#clients
    for (const [, client] of prompting) tale.#prompt(client)
    return tale
  }

  /** So many messages at the first client, or until a tool works that works for long, or until its prompt has ended. */
  async hasHeard(what: number | 'a tool works'): Promise<void> {
    const received = () => this.#clients[0]?.[1].received ?? []
    const works = () => updatesIn(received()).some(({ update }) => update['status'] === 'in_progress')
    const isSo = () => (what === 'a tool works' ? works() : received().length >= what)
    const hasEnded = () => (this.sent[0]?.answers().length ?? 0) > 0
    await until(() => isSo() || hasEnded(), 120_000)
  }

  phase(): Phase {
    const messages = this.#clients[0]?.[1].received ?? []
    return phaseOf({ messages, answered: this.#answered, prompts: ['raw prompt-1'] })
  }

  cut(): void {
    this.#clients[this.#chance.between(0, 2)]?.[1].cut()
  }

  /** Every prompt has an answer, the next one works, and what is told is what is stored. */
  async end(): Promise<readonly Finding[]> {
    for (const sent of this.sent) await patiently(`the answer of ${sent.promptId}`, sent.answered())
    await this.#stage.whole()
    const [visitor, last] = await this.#last()
    const reader = await this.#visit('WebSocket')
    const replay = updatesIn(reader.received, this.sessionId)
    await this.#hasAll(replay.findLast(({ update }) => update.sessionUpdate.endsWith('_chunk'))?.seq ?? 0)
    for (const client of [visitor, reader, ...this.#clients.map(([, one]) => one)]) client.leave()
    await this.#close()
    const journal = await this.#stage.journal(this.sessionId)
    const effects = join(this.#directory, 'effects.jsonl')
    return [
      ...judge({
        sent: this.sent,
        views: this.#clients.map(([over, client]) => [over, updatesIn(client.received, this.sessionId)] as const),
        replay,
        journal,
        effects: readEffects(effects),
        stay: await this.#toolsThatStay(),
        isCutShort: false,
        last,
        story: this.#plan.story.text,
      }),
      ...checkEpochs(journal),
      ...checkOwners(await this.#stage.claims(this.sessionId), readSigned(effects)),
    ]
  }

  leave(): void {
    for (const [, client] of this.#clients) client.leave()
  }

  #prompt(client: Goer): Sent {
    const number = this.sent.length + 1
    const sent = promptRaw(client, `prompt-${number}`, `Tell the tale, for the ${number}. time.`)
    this.sent.push(sent)
    return sent
  }

  /** At any node; one that is just away lets nobody in, and the next one does. */
  async #visit(over: Over): Promise<Goer> {
    const opening = { sessionId: this.sessionId, ...openingIn(this.#directory) }
    const open = () => this.#stage.anyNode(this.#chance).client(over)
    return again(this.#stage, 'a load', () => Goer.visit(open, opening, (message, on) => this.#answer(on, message)))
  }

  #answer(client: Wire, { id, method }: Message): void {
    if (method !== 'session/request_permission') return
    const answer = (): void => {
      this.#answered.add(id)
      client.reply(id, { outcome: { outcome: 'selected', optionId: 'allow_once' } })
    }
    if (this.#plan.thinkMs === 0) answer()
    else setTimeout(answer, this.#plan.thinkMs)
  }

  /** The prompt after all: one that a node was given as it ended is sent again elsewhere, as its answer says. */
  async #last(): Promise<readonly [Goer, Sent]> {
    for (let tries = 1; ; tries += 1) {
      const visitor = await this.#visit('socket')
      const sent = this.#prompt(visitor)
      await patiently('the answer of the last prompt', sent.answered())
      const code = String(sent.answers()[0]?.error?.data?.['code'])
      if (tries === TRIES || !['TURN_INTERRUPTED', 'SERVER_STOPPING'].includes(code)) return [visitor, sent]
      visitor.leave()
      await sleep(200)
      await this.#stage.whole()
    }
  }

  async #hasAll(seq: number): Promise<void> {
    const isThere = (client: Goer) => updatesIn(client.received, this.sessionId).some((seen) => seen.seq >= seq)
    for (const [over, client] of this.#clients)
      await patiently(
        `the last word over ${over}`,
        until(() => isThere(client), 110_000),
      )
  }

  async #close(): Promise<void> {
    await this.#stage.whole()
    await again(this.#stage, 'the close', async () => {
      const connection = await this.#stage.anyNode(this.#chance).client('socket')
      const { sessionId } = this
      for (const [method, params] of [
        ['session/load', this.#opening()],
        ['session/close', { sessionId }],
      ] as const) {
        const { error } = await connection.request(method, params)
        if (error !== undefined) throw new Error(`${method}: ${error.message}`)
      }
      await connection.leave()
    })
  }

  #opening(): Fields {
    return { sessionId: this.sessionId, cwd: this.#directory, mcpServers: [] }
  }

  async #toolsThatStay(): Promise<readonly string[]> {
    const stay = () => this.#stage.tools(this.#directory)
    await until(() => stay().length === 0, FAREWELL).catch(() => undefined)
    return stay().map((pid) => `${pid} (a tool of a closed session)`)
  }
}

/** A node that was cut off learns that it was counted out, and ends, only when it reaches the database again: after all was whole. */
async function again<Result>(stage: Stage, what: string, act: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries += 1)
    try {
      return await patiently(what, act())
    } catch (error) {
      if (tries === TRIES) throw error
      await sleep(200)
      await stage.whole()
    }
}

interface Begun {
  readonly sessionId: string
  readonly directory: string
  readonly number: number
}

function openingIn(directory: string): Fields {
  const args = [SERVER, join(directory, 'effects.jsonl'), 'tale', 'signed']
  return { cwd: directory, mcpServers: [{ name: 'appending', command: '/bin/sh', args, env: [] }] }
}
