/** One connection to the primary, made when it is needed and made anew when it was lost. One statement at a time. */
import { createHash } from 'node:crypto'
import { Client, type ClientConfig } from 'pg'
import { ParleyError } from '../../../../errors/parley-error.ts'
import type { Clock } from '../../../../ports/clock.ts'
import type { Address } from './address.ts'
import { type ServerSettings, settingNames } from './fitness.ts'
import { outcomeOf, sqlState } from './outcome.ts'
import type { Statement } from '../tables/statements.ts'

const CONNECT_TIMEOUT_MS = 5_000
const KEEP_ALIVE_MS = 5_000
/** After this the server of a change is asked on another connection whether it still answers. */
const SILENT_MS = 10_000
/** A lock that is not given in this time is an error of the statement, which then is repeated. */
const LOCK_TIMEOUT = '1s'
/** The code of a notice that the wait for a standby was cut short: what was stored is on one disk. */
const STORED_HERE_ONLY = '01000'

/** The codes of a prepared statement that does not exist, and of one that exists already. */
const LOST_PLAN: ReadonlySet<string> = new Set(['26000', '42P05'])

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

/** Ends the watch over a statement. */
interface Limited {
  cancel(): void
}

type Limit = (client: Client) => Limited | undefined

export class DatabaseConnection {
  readonly #options: ConnectionOptions
  #client: Client | undefined
  #host = 0
  #notices = 0
  #queue: Promise<unknown> = Promise.resolve()
  #isClosed = false
  /** False behind a pooler that gives each transaction to another connection of the server. */
  #keepsPlans = true

  constructor(options: ConnectionOptions) {
    this.#options = options
  }

  /** Runs after those that were asked for before it. An answer that does not come in time loses the connection. */
  query(statement: Statement, values: readonly Value[], timeoutMs?: number): Promise<Answer> {
    return this.#enqueue(statement, values, (client) =>
      timeoutMs === undefined ? undefined : this.#options.clock.setTimer(timeoutMs, () => this.#drop(client)),
    )
  }

  /**
   * The same for what may wait long, for a standby: the connection is lost only when its server is silent. Given up earlier, the
   * statement would still wait there, with its locks.
   */
  change(statement: Statement, values: readonly Value[]): Promise<Answer> {
    return this.#enqueue(statement, values, (client) => this.#watch(client))
  }

  /** Finishes what was asked for. */
  async close(): Promise<void> {
    await this.#queue
    this.#isClosed = true
    await this.#client?.end().catch(() => undefined)
    this.#client = undefined
  }

  #enqueue(statement: Statement, values: readonly Value[], limit: Limit): Promise<Answer> {
    const answer = this.#queue.then(() => this.#run(statement, values, limit))
    this.#queue = answer.catch(() => undefined)
    return answer
  }

  async #run(statement: Statement, values: readonly Value[], limit: Limit): Promise<Answer> {
    if (this.#isClosed) throw new ParleyError('JOURNAL_CLOSED', {})
    const client = (this.#client ??= await this.#connect())
    const before = this.#notices
    const timer = limit(client)
    try {
      const rows = await this.#ask(client, statement, values)
      return { rows, isHereOnly: this.#notices > before }
    } catch (error) {
      if (outcomeOf(error) === 'unknown') this.#drop(client)
      throw error
    } finally {
      timer?.cancel()
    }
  }

  /** Where the plan that was kept is gone, or is there already, nothing was done; from then on none is kept. */
  async #ask(client: Client, statement: Statement, values: readonly Value[]): Promise<Answer['rows']> {
    const query = { text: statement.text, values: [...values], rowMode: 'array' as const }
    try {
      if (this.#keepsPlans) return (await client.query<(string | null)[]>({ ...query, name: planOf(statement) })).rows
    } catch (error) {
      if (!LOST_PLAN.has(sqlState(error) ?? '')) throw error
      this.#keepsPlans = false
    }
    return (await client.query<(string | null)[]>(query)).rows
  }

  #watch(client: Client): Limited {
    const { clock, address } = this.#options
    const url = address.urls[this.#host % address.urls.length]
    let isOver = false
    const check = async () => {
      const isSilent = !(await answers(url))
      if (isOver) return
      if (isSilent) this.#drop(client)
      else timer = ask()
    }
    const ask = () => clock.setTimer(SILENT_MS, () => void check())
    let timer = ask()
    return {
      cancel() {
        isOver = true
        timer.cancel()
      },
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
      await client.query(`SET lock_timeout = '${LOCK_TIMEOUT}'`)
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
    destroy(client)
  }
}

/**
 * Behind a pooler the connection may have a plan that another process has made, of another version or schema: of one name is only what
 * has the same text.
 */
function planOf({ name, text }: Statement): string {
  const known = plans.get(text)
  if (known !== undefined) return known
  const plan = `${name}_${createHash('sha256').update(text).digest('hex').slice(0, 16)}`
  plans.set(text, plan)
  return plan
}

/** Their names by their texts, of which there are few. */
const plans = new Map<string, string>()

async function answers(url: string | undefined): Promise<boolean> {
  const client = new Client({ ...CLIENT, connectionString: url, query_timeout: CONNECT_TIMEOUT_MS })
  client.on('error', () => undefined)
  try {
    await client.connect()
    await client.query('SELECT 1')
    return true
  } catch (error) {
    // Also one that refuses, as when it has too many connections.
    return sqlState(error) !== undefined
  } finally {
    destroy(client)
  }
}

/** A server that does not answer must not be waited for. */
function destroy(client: Client): void {
  const { connection } = client as unknown as { readonly connection: { readonly stream: { destroy(): void } } }
  connection.stream.destroy()
}
