/** A real PostgreSQL in a temporary directory: it listens on a socket there and ends with the tests. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { childrenOf, runs, signal, until } from '../fixtures/process/running.ts'

const DEBIAN = '/usr/lib/postgresql'

/** Where `initdb` and `postgres` are. */
function programs(): string {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).toSorted((left, right) => Number(right) - Number(left)) : []
  const found = [process.env['PARLEY_TEST_PG'], ...versions.map((version) => join(DEBIAN, version, 'bin'))]
  const directory = found.find((one) => one !== undefined && existsSync(join(one, 'initdb')))
  if (directory !== undefined) return directory
  throw new Error(
    'There is no PostgreSQL; get it with `apt-get install postgresql`, or name its programs in PARLEY_TEST_PG.',
  )
}

/** Its programs refuse to run as root. */
function user(): { readonly uid: number; readonly gid: number } | Record<string, never> {
  if (process.getuid?.() !== 0) return {}
  const id = (flag: string): number => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

/** Outside of the run's own directory, which only its user can enter; and short, as names of sockets must be. */
function directoryOf(megabytes: number | undefined): string {
  const directory = mkdtempSync('/tmp/parley-pg-')
  const disk = ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0700`, 'tmpfs', directory]
  // Without the right to mount it is on the disk that all share.
  if (megabytes !== undefined) spawnSync('mount', disk, { stdio: 'ignore' })
  const owner = user()
  if ('uid' in owner) chownSync(directory, owner.uid, owner.gid)
  return directory
}

function isMounted(directory: string): boolean {
  return statSync(directory).dev !== statSync(join(directory, '..')).dev
}

export class PostgresServer {
  readonly #directory: string
  readonly #programs: string
  readonly #settings: readonly string[]
  #server: ChildProcess | undefined
  #schemas = 0

  private constructor(directory: string, settings: readonly string[]) {
    this.#directory = directory
    this.#programs = programs()
    this.#settings = settings
  }

  /** `settings` as in `fsync=off`. With `megabytes` it is on a disk of its own of that size, where this user may make one. */
  static async start(settings: readonly string[] = [], megabytes?: number): Promise<PostgresServer> {
    const server = new PostgresServer(directoryOf(megabytes), settings)
    await server.#init()
    await server.run()
    return server
  }

  /** A server that gets every change of this one as it is made, and serves reads only until it is promoted. */
  async standby(name: string, megabytes?: number): Promise<PostgresServer> {
    const server = new PostgresServer(directoryOf(megabytes), this.#settings)
    const primary = `host=${this.#directory} user=parley application_name=${name}`
    await server.#runs('pg_basebackup', [
      '-D',
      server.#data,
      '-d',
      primary,
      '-R',
      '-X',
      'stream',
      '-c',
      'fast',
      '--no-sync',
    ])
    await server.run()
    return server
  }

  /** Takes writes from now on. A statement that waits for that may be in the way of what is still to be replayed. */
  async promote(): Promise<void> {
    await this.query('SELECT pg_promote(false)')
    const waits = async () => (await this.query('SELECT pg_is_in_recovery() AS waits'))[0]?.['waits'] === true
    while (await waits()) await new Promise((resolve) => setTimeout(resolve, 20))
  }

  /** Of the server and what it has started, as long as it runs. */
  processes(): readonly number[] {
    const { pid } = this
    return this.#isGone() ? [] : [pid, ...childrenOf(pid)]
  }

  get url(): string {
    return this.urlOf('postgres')
  }

  urlOf(database: string): string {
    return `postgres://parley@/${database}?host=${this.#directory}`
  }

  /** Where its socket is. */
  get directory(): string {
    return this.#directory
  }

  /** A name of its own for each test. */
  schema(): string {
    this.#schemas += 1
    return `test_${this.#schemas}`
  }

  get pid(): number {
    return this.#server?.pid ?? 0
  }

  /** As the superuser, on a connection of its own. */
  async query(text: string, values: readonly unknown[] = []): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const client = new Client({ connectionString: this.url })
    await client.connect()
    try {
      return (await client.query<Record<string, unknown>>(text, [...values])).rows
    } finally {
      await client.end()
    }
  }

  /** `value` as SQL has it; resolves when new connections see it, some time after the server was asked to take it in. */
  async set(name: string, value: string): Promise<void> {
    await this.query(`ALTER SYSTEM SET ${name} = ${value}`)
    await this.query('SELECT pg_reload_conf()')
    const shown = value.replaceAll("'", '')
    while ((await this.query(`SHOW ${name}`))[0]?.[name] !== shown) await sleep(5)
  }

  /** Resolves when commits wait for a standby that there is not. */
  async waitForOneThatIsAway(): Promise<void> {
    await this.set('synchronous_standby_names', "'FIRST 1 (away)'")
    // It is another process that says so to all, when it has taken it in.
    for (;;) {
      const probe = this.query("SELECT pg_logical_emit_message(true, 'probe', '')")
      const waits = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE '%emit_message%'"
      const isOver = probe.then(() => true)
      while (!(await Promise.race([isOver, sleep(5, false)])))
        for (const { pid } of await this.query(waits)) {
          await this.query('SELECT pg_cancel_backend($1)', [pid])
          await probe
          return
        }
    }
  }

  /** Starts it, again after it was stopped or killed. */
  async run(): Promise<void> {
    const settings = ['listen_addresses=', `unix_socket_directories=${this.#directory}`, 'max_connections=200']
    const given = [...settings, ...this.#settings].flatMap((setting) => ['-c', setting])
    const server = spawn(join(this.#programs, 'postgres'), ['-D', this.#data, ...given], {
      ...user(),
      cwd: this.#directory,
      stdio: 'ignore',
    })
    this.#server = server
    while (!(await this.#answers())) {
      if (server.exitCode !== null) throw new Error(`postgres ended with ${server.exitCode}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  /** `SIGQUIT` is a crash with recovery; `SIGINT` ends all connections and writes everything down. */
  async stop(signal: NodeJS.Signals = 'SIGINT'): Promise<void> {
    const server = this.#server
    if (server === undefined || this.#isGone()) return
    const ended = once(server, 'exit')
    server.kill(signal)
    await ended
  }

  /** To all its processes. */
  signal(name: NodeJS.Signals): void {
    for (const pid of this.processes()) signal(pid, name)
  }

  /** With all its processes, as a machine does that loses its power; resolves when none runs any more. */
  async kill(): Promise<void> {
    const pids = this.processes()
    const ended = this.#server && !this.#isGone() ? once(this.#server, 'exit') : undefined
    this.signal('SIGKILL')
    await ended
    await until(() => pids.every((pid) => !runs(pid)))
  }

  /** Nothing is left on its disk for a while; a server that has ended over it is started again. False where it has no disk of its own. */
  async fillDisk(ms: number): Promise<boolean> {
    if (!isMounted(this.#directory)) return false
    const ballast = join(this.#directory, 'ballast')
    const { bavail, bsize } = statfsSync(this.#directory)
    try {
      writeFileSync(ballast, Buffer.alloc(bavail * bsize))
    } catch {
      // It is full.
    }
    await new Promise((resolve) => setTimeout(resolve, ms))
    rmSync(ballast, { force: true })
    // It may be about to end.
    for (let waited = 0; waited < 100 && !(await this.#answers()); waited += 1) {
      if (this.#isGone()) await this.run()
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    return true
  }

  async close(): Promise<void> {
    await this.stop('SIGQUIT')
    if (isMounted(this.#directory)) execFileSync('umount', ['-l', this.#directory])
    rmSync(this.#directory, { recursive: true, force: true, maxRetries: 5 })
  }

  #isGone(): boolean {
    const server = this.#server
    return server === undefined || server.exitCode !== null || server.signalCode !== null
  }

  get #data(): string {
    return join(this.#directory, 'data')
  }

  async #runs(program: string, args: readonly string[]): Promise<void> {
    const child = spawn(join(this.#programs, program), args, {
      ...user(),
      cwd: this.#directory,
      env: { PATH: process.env['PATH'] ?? '', TMPDIR: tmpdir() },
      stdio: 'ignore',
    })
    const [code] = (await once(child, 'exit')) as [number | null]
    if (code !== 0) throw new Error(`${program} ended with ${code}`)
  }

  /** Not at once: who waits here may have others to answer. */
  async #init(): Promise<void> {
    const given = ['-U', 'parley', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-instructions', '--no-sync']
    await this.#runs('initdb', ['-D', this.#data, ...given])
  }

  async #answers(): Promise<boolean> {
    try {
      await this.query('SELECT 1')
      return true
    } catch {
      return false
    }
  }
}
