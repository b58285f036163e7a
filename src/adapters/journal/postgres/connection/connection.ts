/** One connection to the primary, made when it is needed and made anew when it was lost. One statement at a time. */
import { Client, type ClientConfig } from 'pg'
import { ParleyError } from '../../../../errors/parley-error.ts'
import type { Clock } from '../../../../ports/clock.ts'
import type { Address } from './address.ts'
import { type ServerSettings, settingNames } from './fitness.ts'
import { outcomeOf } from './outcome.ts'
import type { Statement } from '../tables/statements.ts'

const CONNECT_TIMEOUT_MS = 5_000
const KEEP_ALIVE_MS = 5_000
/** The code of a notice that the wait for a standby was cut short: what was stored is on one disk. */
const STORED_HERE_ONLY = '01000'

export type Value = string | number | null

export interface Answer {
  readonly rows: readonly (readonly (string | null)[])[]
  /** The server has stored it and no standby is known to have it. */
  readonly isHereOnly: boolean
}

export interface ConnectionOptions {
  readonly address: Address
  readonly clock: Clock
  /** Called for each new connection; what it throws refuses the server. */
  readonly connected: (settings: ServerSettings) => void
}

/** How all connections that are made look: arrays of texts, and no type is asked for. */
const CLIENT: ClientConfig = {
  connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  keepAlive: true,
  keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  application_name: 'parley',
  types: { getTypeParser: () => (value: unknown) => value },
}

export class Connection {
  readonly #options: ConnectionOptions
  #client: Client | undefined
  #host = 0
  #notices = 0
  #queue: Promise<unknown> = Promise.resolve()
  #isClosed = false

  constructor(options: ConnectionOptions) {
    this.#options = options
  }

  /** Runs after those that were asked for before it. An answer that does not come in time loses the connection. */
  query(statement: Statement, values: readonly Value[], timeoutMs?: number): Promise<Answer> {
    const answer = this.#queue.then(() => this.#run(statement, values, timeoutMs))
    this.#queue = answer.catch(() => undefined)
    return answer
  }

  /** Finishes what was asked for. */
  async close(): Promise<void> {
    await this.#queue
    this.#isClosed = true
    await this.#client?.end().catch(() => undefined)
    this.#client = undefined
  }

  async #run({ name, text }: Statement, values: readonly Value[], timeoutMs: number | undefined): Promise<Answer> {
    if (this.#isClosed) throw new ParleyError('JOURNAL_CLOSED', {})
    const client = (this.#client ??= await this.#connect())
    const before = this.#notices
    const timer =
      timeoutMs === undefined ? undefined : this.#options.clock.setTimer(timeoutMs, () => this.#drop(client))
    try {
      const query = { text, values: [...values], rowMode: 'array' as const }
      const { rows } = await client.query<(string | null)[]>({ ...query, name })
      return { rows, isHereOnly: this.#notices > before }
    } catch (error) {
      if (outcomeOf(error) === 'unknown') this.#drop(client)
      throw error
    } finally {
      timer?.cancel()
    }
  }

  /** The first host that takes writes. Throws why the last one did not. */
  async #connect(): Promise<Client> {
    const { urls } = this.#options.address
    let refused: unknown
    for (const _ of urls) {
      const url = urls[this.#host % urls.length]
      try {
        return await this.#open(url)
      } catch (error) {
        refused = error
        this.#host += 1
      }
    }
    throw refused
  }

  async #open(url: string | undefined): Promise<Client> {
    const client = new Client({ ...CLIENT, connectionString: url })
    client.on('error', () => this.#drop(client))
    client.on('notice', ({ code }) => {
      if (code === STORED_HERE_ONLY) this.#notices += 1
    })
    try {
      await client.connect()
      const asked = ['transaction_read_only', ...settingNames]
      const { rows } = await client.query<(string | null)[]>({
        text: `SELECT ${asked.map((_, index) => `current_setting($${index + 1}, true)`).join(', ')}`,
        values: asked,
        rowMode: 'array',
      })
      const [readOnly, ...settings] = rows[0] ?? []
      if (readOnly === 'on') throw new Error('the server takes no writes')
      const named = settingNames.map((name, index) => [name, settings[index] ?? undefined] as const)
      this.#options.connected(Object.fromEntries(named) as unknown as ServerSettings)
      return client
    } catch (error) {
      this.#drop(client)
      throw error
    }
  }

  #drop(client: Client): void {
    if (this.#client === client) this.#client = undefined
    // A server that does not answer must not be waited for.
    ;(
      client as unknown as { readonly connection: { readonly stream: { destroy(): void } } }
    ).connection.stream.destroy()
  }
}
