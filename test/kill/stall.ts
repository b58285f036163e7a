/**
 * Slow harms nobody, on the real binary: one client stops reading under a flood of updates. The turn and the other client take no
 * longer than without it, the server's memory stays under its bound, and the slow one gets all of it once when it reads on.
 */
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { CountingClient } from './counting-client.ts'
import { Town, patiently } from './town.ts'

export interface StallPlan {
  readonly updates: number
  /** How long the slow client reads nothing, at the least. Milliseconds. */
  readonly stallMs: number
  readonly bin?: string
}

export interface StallResult {
  /** How long the flood took the client that sent the prompt and the one that read along, without and with a slow one beside them. */
  readonly calmMs: number
  readonly stalledMs: number
  /** The server's resident memory before, and at its highest. Bytes. */
  readonly before: number
  readonly highest: number
  /** The server has closed the slow client's connection. */
  readonly wasCutOff: boolean
  /** What somebody was told out of turn, or not at all. */
  readonly faults: readonly string[]
}

export async function runStall({ updates, stallMs, bin }: StallPlan): Promise<StallResult> {
  const town = await Town.found([{ chunk: 'w{n} ', times: updates }], bin)
  try {
    const flood = await Flood.open(town, updates)
    const calmMs = await flood.turn()
    const before = flood.memory()
    flood.slow.stall()
    const stalledMs = await flood.turn()
    await sleep(stallMs - stalledMs)
    const highest = Math.max(flood.highest, flood.memory())
    flood.slow.readOn()
    const last = await flood.catchUp()
    return { calmMs, stalledMs, before, highest, wasCutOff: flood.slow.isEnded, faults: flood.faults(last) }
  } finally {
    await town.raze()
  }
}

class Flood {
  readonly #town: Town
  readonly #updates: number
  readonly #sessionId: string
  readonly #sender: CountingClient
  readonly #watcher: CountingClient
  readonly slow: CountingClient
  highest = 0

  private constructor({ town, updates, sessionId, clients }: Opened) {
    this.#town = town
    this.#updates = updates
    this.#sessionId = sessionId
    ;[this.#sender, this.#watcher, this.slow] = clients
  }

  static async open(town: Town, updates: number): Promise<Flood> {
    // A relay starts the server, with the agent that its sessions have.
    const relay = await town.relay()
    const { result } = await relay.request('session/new', { cwd: town.cwd, mcpServers: [] })
    const sessionId = String(result?.['sessionId'])
    const clients: Opened['clients'] = [
      await join(town, sessionId),
      await join(town, sessionId),
      await join(town, sessionId),
    ]
    relay.closeStdin()
    return new Flood({ town, updates, sessionId, clients })
  }

  memory(): number {
    const status = readFileSync(`/proc/${this.#town.server()}/status`, 'utf8')
    return Number(/^VmRSS:\s+(\d+)/mu.exec(status)?.[1] ?? 0) * 1_024
  }

  /** One flood, until its sender has the answer and who reads along has the last word. */
  async turn(): Promise<number> {
    const began = performance.now()
    const look = setInterval(() => (this.highest = Math.max(this.highest, this.memory())), 50)
    try {
      const prompt = [{ type: 'text', text: 'Flood.' }]
      const watched = this.#watcher.cursor
      await this.#sender.request('session/prompt', { sessionId: this.#sessionId, prompt })
      await this.#watcher.when(() => this.#watcher.cursor > watched && this.#watcher.words === this.#updates)
      return performance.now() - began
    } finally {
      clearInterval(look)
    }
  }

  /** The slow client gets there by itself, or goes on from its cursor on a new connection. */
  async catchUp(): Promise<CountingClient> {
    const hasAll = (client: CountingClient) => client.cursor >= this.#watcher.cursor
    await patiently(
      'the slow client to catch up',
      this.slow.when(() => hasAll(this.slow)),
    )
    if (!this.slow.isEnded) return this.slow
    const next = await CountingClient.open(this.#town.socket)
    next.takeOver(this.slow)
    const _meta = { 'parley/after': this.slow.cursor }
    await next.request('session/resume', { sessionId: this.#sessionId, cwd: this.#town.cwd, _meta })
    await patiently(
      'the slow client to go on',
      next.when(() => hasAll(next)),
    )
    return next
  }

  faults(last: CountingClient): readonly string[] {
    const all = [this.#sender, this.#watcher, this.slow, ...(last === this.slow ? [] : [last])]
    const ends = [this.#sender, this.#watcher, last].filter(({ words }) => words !== this.#updates)
    return [...all.flatMap(({ misplaced }) => misplaced), ...ends.map(({ words }) => `the last word is w${words}`)]
  }
}

interface Opened {
  readonly town: Town
  readonly updates: number
  readonly sessionId: string
  readonly clients: readonly [CountingClient, CountingClient, CountingClient]
}

async function join({ socket, cwd }: Town, sessionId: string): Promise<CountingClient> {
  const client = await CountingClient.open(socket)
  await client.request('session/resume', { sessionId, cwd })
  return client
}
