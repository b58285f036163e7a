/** A primary and its synchronous standby, which takes over when it must; another standby is made then. */
import { join } from 'node:path'
import { PostgresServer } from './server.ts'

const STANDBY = 'standby'
/** Of each server's own disk, so that it can be filled. */
const MEGABYTES = 400
const SETTINGS = [
  'max_wal_size=64MB',
  'min_wal_size=32MB',
  'wal_retrieve_retry_interval=100ms',
  'wal_receiver_status_interval=1s',
  // What a test asks a standby is not cancelled because of what it replays.
  'max_standby_streaming_delay=-1',
]

export class Replicas {
  #primary: PostgresServer
  #standby: PostgresServer | undefined
  /** The last one that was asked for. */
  #changing: Promise<void> = Promise.resolve()

  private constructor(primary: PostgresServer) {
    this.#primary = primary
  }

  static async start(): Promise<Replicas> {
    const replicas = new Replicas(await PostgresServer.start(SETTINGS, MEGABYTES))
    await replicas.#pair()
    return replicas
  }

  get primary(): PostgresServer {
    return this.#primary
  }

  get standby(): PostgresServer | undefined {
    return this.#standby
  }

  /** Where the primary of this moment listens. */
  get socket(): string {
    return join(this.#primary.directory, '.s.PGSQL.5432')
  }

  /**
   * The standby is the primary from now on. Of the old one nothing runs any more, or it goes on alone for a moment: then nothing can be
   * committed there. Resolves when there is a standby again.
   */
  failOver(old: 'dies' | 'goes on'): Promise<void> {
    this.#changing = this.#changing.then(() => this.#failOver(old))
    return this.#changing
  }

  /** The disk of the primary is full for a while; no failover begins meanwhile. False where it has no disk of its own. */
  async fillDisk(ms: number): Promise<boolean> {
    const filled = this.#changing.then(() => this.#primary.fillDisk(ms))
    this.#changing = filled.then(() => this.#untilSynchronous())
    return filled
  }

  /** This standby is not waited for any more. */
  async loosen(): Promise<void> {
    await this.#primary.query('ALTER SYSTEM RESET synchronous_standby_names')
    await this.#primary.query('SELECT pg_reload_conf()')
  }

  signalStandby(signal: NodeJS.Signals): void {
    this.#standby?.signal(signal)
  }

  /** Resolves when there is a standby. */
  whole(): Promise<void> {
    return this.#changing
  }

  async close(): Promise<void> {
    await this.#changing.catch(() => undefined)
    await this.#standby?.close()
    await this.#primary.close()
  }

  async #failOver(old: 'dies' | 'goes on'): Promise<void> {
    const [before, next] = [this.#primary, this.#standby]
    if (next === undefined) return
    if (old === 'dies') await before.kill()
    this.signalStandby('SIGCONT')
    await next.promote()
    this.#primary = next
    this.#standby = undefined
    await before.close()
    await this.#pair()
  }

  async #pair(): Promise<void> {
    this.#standby = await this.#primary.standby(STANDBY, MEGABYTES)
    await this.#primary.query(`ALTER SYSTEM SET synchronous_standby_names = 'FIRST 1 (${STANDBY})'`)
    await this.#primary.query('SELECT pg_reload_conf()')
    await this.#untilSynchronous()
  }

  async #untilSynchronous(): Promise<void> {
    const isSynchronous = async () =>
      (await this.#primary.query("SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'")).length > 0
    while (!(await isSynchronous())) await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
