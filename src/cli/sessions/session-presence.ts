/** The live state of a session as the server last sent it: its turn, the other clients, the queue. */
import type { Client } from '../../client/client.ts'
import type { ConnectionEvent } from '../../client/client-delegate.ts'
import type { NoticeKind } from '../../client/initialize.ts'
import type { AgentNotice, Notice, Present, QueueNotice } from '../../client/incoming/notices.ts'
import { oneLine } from '../output/terminal/text.ts'
import { after } from '../output/terminal/pace.ts'
import { complain } from '../say.ts'

/** The notices that `SessionPresence` needs. */
export const companyNotices: readonly NoticeKind[] = ['turn', 'presence', 'queue', 'agent']

const BUSY: ReadonlySet<string> = new Set(['working', 'cancelling', 'waiting', 'suspended'])

/** How long a server may take to send the state that it sends at the beginning. Milliseconds. */
const PRESENCE_TIMEOUT_MS = 5_000

export class SessionPresence {
  #phase = 'idle'
  #mine = false
  #others: readonly Present[] = []
  #queue: QueueNotice['prompts'] = []
  #agent: AgentNotice | undefined
  #markKnown: () => void = () => undefined
  readonly #known = new Promise<void>((resolve) => (this.#markKnown = resolve))

  take(notice: Notice): void {
    if (notice.kind === 'presence') this.#others = notice.clients.filter(({ you }) => !you)
    if (notice.kind === 'queue') this.#queue = notice.prompts
    if (notice.kind === 'agent') this.#agent = notice
    if (notice.kind !== 'turn') return
    this.#phase = notice.phase
    this.#mine = notice.mine
    this.#markKnown()
  }

  /** A lost server sends no state, so callers stop waiting for it. */
  connection({ kind }: ConnectionEvent): void {
    if (kind === 'uncertain' || kind === 'certain') return
    if (kind === 'stopped' || kind === 'lost') this.#markKnown()
    this.#agent = undefined
  }

  /**
   * Resolves when the server has sent the state of the turn, which it does once at the beginning. A server that does not
   * send it counts as idle: a prompt that is sent too early waits in the queue of the server.
   */
  async known(client: Pick<Client, 'notices' | 'closed'>): Promise<void> {
    if (!client.notices('turn')) return
    let noLonger = (): void => undefined
    const late = new Promise<void>((resolve) => (noLonger = after(PRESENCE_TIMEOUT_MS, resolve)))
    await Promise.race([this.#known, client.closed, late])
    noLonger()
  }

  /** A turn runs, or waits for an answer. */
  get busy(): boolean {
    return BUSY.has(this.#phase)
  }

  /** The turn waits for an answer to its question. */
  get waits(): boolean {
    return this.#phase === 'waiting' || this.#phase === 'suspended'
  }

  /** The turn that runs answers a prompt of ours. */
  get mine(): boolean {
    return this.busy && this.#mine
  }

  /** No turn of another client runs now. */
  get ours(): boolean {
    return !this.busy || this.#mine
  }

  /** Closed or deleted, by whomever. */
  get over(): string | undefined {
    return this.#phase === 'closed' || this.#phase === 'deleted' ? this.#phase : undefined
  }

  /** Why nothing is to be seen of the agent; empty where nothing needs an explanation. */
  get doing(): string {
    return this.#agent === undefined ? '' : activityWords(this.#agent)
  }

  /** The prompts that wait, in the order in which they will run. */
  get queue(): QueueNotice['prompts'] {
    return this.#queue
  }

  /** How the other clients that have the session open call themselves. */
  get others(): readonly string[] {
    return this.#others.map(({ title, name }) => title ?? name)
  }
}

function activityWords({ state, agent = '', step = '', since = '', calls = [] }: AgentNotice): string {
  if (state === 'starting') return `${agent} starts${step === '' ? '' : ` (${step})`}`
  if (state !== 'quiet') return ''
  const time = new Date(since).toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' })
  const [call] = calls
  return `${agent} is quiet since ${time}${call === undefined ? '' : `, in “${oneLine(call, 30)}”`}`
}

const SILENT = 'The database does not answer; nothing new is stored until it does'

/** What stands in the last row for as long as it holds. */
export const connectionWords: Partial<Record<ConnectionEvent['kind'], string>> = {
  reconnecting: 'Reconnecting …',
  uncertain: SILENT,
}

/** Why nothing comes, for a command without a last row. */
export function complainOfSilence({ kind }: ConnectionEvent): void {
  if (kind === 'uncertain') complain(`${SILENT}.`)
  if (kind === 'certain') complain('The database answers again.')
}
