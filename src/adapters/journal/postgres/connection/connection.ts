/** One connection to the primary, made when it is needed and made anew when it was lost. One statement at a time. */
import { createHash } from 'node:crypto'
import { Client, type ClientConfig } from 'pg'
import { ParleyError } from '../../../../errors/parley-error.ts'
import type { Clock } from '../../../../ports/clock.ts'
import type { Address } from './address.ts'
import { type ServerSettings, fitnessOf, settingNames } from './fitness.ts'
import { outcomeOf, sqlState } from './outcome.ts'
import type { Statement } from '../tables/statements.ts'
import type { Timeline } from './timeline.ts'

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
  /** After each change the settings are read: one that may not be on a standby was stored here only. */
  readonly isReplicated?: boolean
  /** Of the database: the connection is to the server that was promoted last. */
  readonly timeline?: Timeline | undefined
}

/** How all connections that are made look: arrays of texts, and no type is asked for. */
const CLIENT: ClientConfig = {
  connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  keepAlive: true,
  keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  application_name: 'parley',
  types: { getTypeParser: () => (value: unknown) => value },
}

const CURRENT_SETTINGS: Statement = {
  name: 'parley_settings',
  text: `SELECT ${['transaction_read_only', ...settingNames].map((name) => `current_setting('${name}', true)`).join(', ')}`,
}

function settingsIn(row: Answer['rows'][number] = []): {
  readonly settings: ServerSettings
  readonly isReadOnly: boolean
} {
  const [readOnly, ...values] = row
  const named = settingNames.map((name, index) => [name, values[index] ?? undefined] as const)
  return { settings: Object.fromEntries(named) as unknown as ServerSettings, isReadOnly: readOnly === 'on' }
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
  readonly #stopListening: (() => void) | undefined
  /** Of the server that it is connected to. */
  #timeline: number | undefined

  constructor(options: ConnectionOptions) {
    this.#options = options
    this.#stopListening = options.timeline?.whenPromoted(() => this.#leave())
  }

  /** Runs after those that were asked for before it. An answer that does not come in time loses the connection. */
  query(statement: Statement, values: readonly Value[], timeoutMs?: number): Promise<Answer> {
    const limit: Limit = (client) => (timeoutMs === undefined ? undefined : this.#limited(client, timeoutMs))
    return this.#enqueue(() => this.#run(statement, values, limit))
  }

  /**
   * The same for what may wait long, for a standby: the connection is lost only when its server is silent. Given up earlier, the
   * statement would still wait there, with its locks. What would wait for nothing may have a limit nevertheless.
   */
  change(statement: Statement, values: readonly Value[], timeoutMs?: number): Promise<Answer> {
    const limit: Limit = (client) => (timeoutMs === undefined ? this.#watch(client) : this.#limited(client, timeoutMs))
    return this.#enqueue(async () => {
      const answer = await this.#run(statement, values, limit)
      const isEnough = this.#options.isReplicated !== true || (await this.#promisesReplicas())
      return isEnough ? answer : { ...answer, isHereOnly: true }
    })
  }

  /** Finishes what was asked for. */
  async close(): Promise<void> {
    await this.#queue
    this.#isClosed = true
    this.#stopListening?.()
    await this.#client?.end().catch(() => undefined)
    this.#client = undefined
  }

  #enqueue(act: () => Promise<Answer>): Promise<Answer> {
    const answer = this.#queue.then(act)
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

  /** A server whose standby is not waited for any more acknowledges what waited for it, and says so nowhere else. */
  async #promisesReplicas(): Promise<boolean> {
    const { rows } = await this.#run(CURRENT_SETTINGS, [], (client) => this.#watch(client))
    return fitnessOf(settingsIn(rows[0]).settings).durability === 'replicated'
  }

  /** As they are now; they may have changed since it was connected. Without an answer in time they are not known. */
  async settings(timeoutMs: number): Promise<ServerSettings> {
    return settingsIn((await this.query(CURRENT_SETTINGS, [], timeoutMs)).rows[0]).settings
  }

  #limited(client: Client, ms: number): Limited {
    return this.#options.clock.setTimer(ms, () => this.#drop(client))
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
      const { rows } = await client.query<(string | null)[]>({ text: CURRENT_SETTINGS.text, rowMode: 'array' })
      const { settings, isReadOnly } = settingsIn(rows[0])
      if (isReadOnly) throw new Error('the server takes no writes')
      this.#options.connected(settings)
      const timeline = this.#options.timeline && (await timelineOf(client))
      this.#options.timeline?.connected(timeline)
      this.#timeline = timeline
      return client
    } catch (error) {
      this.#drop(client)
      throw error
    }
  }

  /** Another server was promoted: what waits at a former one is asked again there. */
  #leave(): void {
    const newest = this.#options.timeline?.newest ?? 0
    if (this.#client !== undefined && this.#timeline !== undefined && this.#timeline < newest) this.#drop(this.#client)
  }

  #drop(client: Client): void {
    if (this.#client === client) this.#client = undefined
    destroy(client)
  }
}

/** The first part of the name of the file that it writes. Undefined for a server that has no such files. */
async function timelineOf(client: Client): Promise<number | undefined> {
  const text = 'SELECT left(pg_walfile_name(pg_current_wal_lsn()), 8)'
  const asked = client.query<(string | null)[]>({ text, rowMode: 'array' })
  const { rows } = await asked.catch((error: unknown) => {
    if (sqlState(error) === undefined) throw error
    return { rows: [] }
  })
  const timeline = Number.parseInt(rows[0]?.[0] ?? '', 16)
  return Number.isNaN(timeline) ? undefined : timeline
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
