/** A server that listens on a port, with an agent that plays a script. One with a process of its own can be killed, and comes back on its port. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { join } from 'node:path'
import { WebSocket } from 'ws'
import { type Client, connect, overWebSocket } from '../../src/client.ts'
import { AccessTokens } from '../../src/credentials/access-tokens.ts'
import type { Role } from '../../src/credentials/roles.ts'
import { type RunningCommand, runCommand } from '../e2e/command-scope.ts'
import { environmentOf } from '../e2e/environment.ts'
import { binary, freshDirectory } from '../e2e/parley.ts'
import { freePort } from '../fixtures/process/free-port.ts'

const LISTENS = /ws:\/\/127\.0\.0\.1:(\d+)\/acp/u

export type Step = Readonly<Record<string, unknown>>

export interface ServerOptions {
  /** Settings of it. */
  readonly environment?: Readonly<Record<string, string>>
  /** Else it runs in the process of the tests, which costs a fifth. */
  readonly hasProcess?: boolean
}

const ON_SMALL_DISK = [
  'cp -a "$PARLEY_HOME" "$0"',
  'mount -t tmpfs -o size=8m,mode=0700 tmpfs "$PARLEY_HOME"',
  'cp -a "$0"/. "$PARLEY_HOME"',
  'exec "$@"',
].join(' && ')

export class PageServer {
  /** Everything of this server stands below it. */
  readonly #directory = freshDirectory()
  readonly home = join(this.#directory, 'home')
  /** Where sessions work. */
  readonly work = join(this.#directory, 'work')
  readonly #script = join(this.#directory, 'script.jsonl')
  /** The last one runs, unless it was killed. */
  readonly #children: ChildProcessWithoutNullStreams[] = []
  #hosted: RunningCommand | undefined
  #tokens = 0
  #programToken = ''
  readonly #options: ServerOptions
  port = 0

  static async start(steps: readonly Step[] = [], options: ServerOptions = {}): Promise<PageServer> {
    const server = new PageServer(options)
    mkdirSync(server.work)
    server.play(steps)
    server.#programToken = server.token('admin')
    await server.listen()
    return server
  }

  private constructor(options: ServerOptions) {
    this.#options = options
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/`
  }

  /** What the agent says from its next turn on. */
  play(steps: readonly Step[]): void {
    writeFileSync(this.#script, steps.map((step) => JSON.stringify(step)).join('\n'))
  }

  /** A session that a program has made and left, with this prompt if any: at its first word, or when its turn has ended. */
  async newSession(
    firstPrompt = '',
    {
      leaves = 'begun',
      directory = this.work,
    }: { readonly leaves?: 'begun' | 'ended'; readonly directory?: string } = {},
  ): Promise<string> {
    let heard: () => void = () => undefined
    const hasBegun = new Promise<void>((resolve) => (heard = resolve))
    const client = await this.#program(() => heard())
    const sessionId = await client.newSession(directory)
    if (firstPrompt !== '') {
      // The connection may end before the turn.
      const ended = client.prompt(sessionId, firstPrompt).catch(() => undefined)
      await (leaves === 'begun' ? hasBegun : ended)
    }
    client.close()
    return sessionId
  }

  /** A whole turn of a program that leaves then. */
  async prompt(sessionId: string, text: string): Promise<void> {
    const client = await this.#program()
    await client.resumeSession({ sessionId, cwd: this.work })
    await client.prompt(sessionId, text)
    client.close()
  }

  #program(updated = (): void => undefined): Promise<Client> {
    const open = (url: string, protocols: readonly string[]) => new WebSocket(url, [...protocols])
    return connect(
      overWebSocket(`ws://127.0.0.1:${this.port}/acp`, { token: this.#programToken, open }),
      { updated, ask: () => new Promise(() => undefined) },
      { info: { name: 'program', title: 'Program', version: '1' } },
    )
  }

  token(role: Role): string {
    this.#tokens += 1
    return this.#accessTokens.add(`${role}-${this.#tokens}`, role)
  }

  /** The newest token is no longer one. */
  removeToken(): void {
    const newest = this.#accessTokens.all().at(-1)
    if (newest !== undefined) this.#accessTokens.remove(newest.name)
  }

  get #accessTokens(): AccessTokens {
    return new AccessTokens(this.home, Date)
  }

  /** On a disk of its own with what was stored so far; needs namespaces. It is gone with this server. */
  listenOnSmallDisk(): Promise<void> {
    return this.listen(['unshare', '-Urm', 'sh', '-c', ON_SMALL_DISK, join(this.#directory, 'copy')])
  }

  /** Fills its small disk, and returns what makes room again. */
  fillDisk(): () => void {
    const ballast = join(`/proc/${this.pid}/root`, this.home, 'ballast')
    try {
      for (;;) appendFileSync(ballast, Buffer.alloc(4_096))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    }
    return () => rmSync(ballast)
  }

  /** On the port that it had before, if it had one. `before`: a program that becomes the server, with its arguments. */
  async listen(before: readonly string[] = []): Promise<void> {
    // While it is dead no other may take it.
    if (this.#options.hasProcess === true && this.port === 0) this.port = await freePort()
    const args = ['serve', '--listen', String(this.port)]
    const env = environmentOf({
      home: this.home,
      agent: `script:${this.#script}`,
      env: this.#options.environment ?? {},
    })
    const line = await (this.#options.hasProcess === true
      ? this.#spawned([...before, process.execPath, binary, ...args], env)
      : this.#hostedHere(args, env))
    this.port = Number(LISTENS.exec(line)?.[1])
  }

  /** What it has printed when it listens. */
  async #spawned([program = '', ...args]: readonly string[], env: Record<string, string>): Promise<string> {
    const child = spawn(program, args, { cwd: this.work, env })
    this.#children.push(child)
    child.stderr.resume()
    for await (const line of createInterface({ input: child.stdout })) {
      if (!LISTENS.test(line)) continue
      child.stdout.resume()
      return line
    }
    throw new Error('the server ended before it listened')
  }

  #hostedHere(args: readonly string[], env: Record<string, string>): Promise<string> {
    // The tests may be busy for long.
    this.#hosted = runCommand(args, { env: { PARLEY_MAX_STALL_SECONDS: '0', ...env }, cwd: this.work })
    return this.#hosted.printed('ws://127.0.0.1:')
  }

  /** Of the one that runs. */
  get pid(): number | undefined {
    return this.#children.at(-1)?.pid
  }

  /** As a crash would. */
  async kill(): Promise<void> {
    if (this.#hosted !== undefined) throw new Error('the server that is to be killed needs a process')
    const child = this.#children.at(-1)
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }

  async close(): Promise<void> {
    // The second one does not wait for turns.
    for (const signal of ['SIGTERM', 'SIGTERM'] as const) this.#hosted?.signal(signal)
    await (this.#hosted?.ended ?? this.kill())
    rmSync(this.#directory, { recursive: true, force: true, maxRetries: 3 })
  }
}
