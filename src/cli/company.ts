/** A session as the server last told of it: how its turn stands, who else is here, what waits in the queue. */
import type { Client } from '../client/connect.ts'
import type { ConnectionEvent } from '../client/face.ts'
import type { NoticeKind } from '../client/hello.ts'
import type { Notice, Present } from '../client/notices.ts'
import { after } from './terminal/pace.ts'

/** What `Company` lives on. */
export const companyNotices: readonly NoticeKind[] = ['turn', 'presence', 'queue']

const BUSY: ReadonlySet<string> = new Set(['working', 'cancelling', 'waiting', 'suspended'])

/** How long a server may take to tell what it promised to tell at once. Milliseconds. */
const TELLING = 5_000

export class Company {
  #phase = 'idle'
  #mine = false
  #others: readonly Present[] = []
  #queue: readonly { readonly mine: boolean; readonly text: string }[] = []
  #told: () => void = () => undefined
  readonly #known = new Promise<void>((resolve) => (this.#told = resolve))

  take(notice: Notice): void {
    if (notice.kind === 'presence') this.#others = notice.clients.filter(({ you }) => !you)
    if (notice.kind === 'queue') this.#queue = notice.prompts
    if (notice.kind !== 'turn') return
    this.#phase = notice.phase
    this.#mine = notice.mine
    this.#told()
  }

  /** A server that is not there tells nothing. */
  connection({ kind }: ConnectionEvent): void {
    if (kind === 'stopped' || kind === 'lost') this.#told()
  }

  /**
   * Resolves when the server has told how the turn stands, which it does once at the beginning. One that promises this and
   * does not keep it counts as idle: a prompt that is sent too early waits in the queue of the server.
   */
  async known(client: Client): Promise<void> {
    if (!client.notices('turn')) return
    let noLonger = (): void => undefined
    const late = new Promise<void>((resolve) => (noLonger = after(TELLING, resolve)))
    await Promise.race([this.#known, client.closed, late])
    noLonger()
  }

  /** A turn runs, or waits for an answer. */
  get busy(): boolean {
    return BUSY.has(this.#phase)
  }

  /** The turn waits for somebody to answer its question. */
  get waits(): boolean {
    return this.#phase === 'waiting' || this.#phase === 'suspended'
  }

  /** The turn that runs answers a prompt of ours. */
  get mine(): boolean {
    return this.busy && this.#mine
  }

  /** What happens now is no turn of somebody else's. */
  get ours(): boolean {
    return !this.busy || this.#mine
  }

  /** Closed or deleted, by whomever. */
  get over(): string | undefined {
    return this.#phase === 'closed' || this.#phase === 'deleted' ? this.#phase : undefined
  }

  /** A prompt of ours waits behind others. */
  get queued(): boolean {
    return this.#queue.some(({ mine }) => mine)
  }

  /** How many others have the session open. */
  get others(): number {
    return this.#others.length
  }

  /** One line for people; empty when there is nothing to tell. */
  summary(): string {
    const names = this.#others.map(({ title, name }) => title ?? name)
    const waiting = this.#queue.map(({ mine, text }) => `${mine ? 'yours: ' : ''}“${text}”`)
    return [
      ...(names.length === 0 ? [] : [`also here: ${counted(names).join(', ')}`]),
      ...(waiting.length === 0 ? [] : [`${waiting.length} waiting: ${waiting.join(', ')}`]),
    ].join(' · ')
  }
}

/** Names that are alike are told once, with their number. */
function counted(names: readonly string[]): readonly string[] {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts].map(([name, count]) => (count === 1 ? name : `${name} ×${count}`))
}
