/** Between the journal and the database: passes what either says, until it is told to lose answers or connections. */
import { mkdtempSync, rmSync } from 'node:fs'
import { type Server, type Socket, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const SOCKET = '.s.PGSQL.5432'

export class DatabaseProxy {
  readonly #directory = mkdtempSync(join(tmpdir(), 'pg-'))
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #losesAfter: ((sent: Buffer) => boolean) | undefined
  #watch: (sent: Buffer) => void = () => undefined
  /** How many connections were cut with the answer on its way. */
  lost = 0
  connections = 0
  /** Nothing passes, and no connection ends: the other side is silent. */
  isStalled = false

  #database: string

  constructor(database: string) {
    this.#database = database
    this.#server = createServer((client) => {
      this.connections += 1
      const server = connect(join(this.#database, SOCKET))
      let isLosing = false
      client.on('data', (sent) => {
        if (this.isStalled) return
        this.#watch(sent)
        if (this.#losesAfter?.(sent) === true) {
          isLosing = true
          this.#losesAfter = undefined
        }
        server.write(sent)
      })
      server.on('data', (answer) => {
        if (this.isStalled) return
        if (!isLosing) return void client.write(answer)
        this.lost += 1
        client.destroy()
        server.destroy()
      })
      for (const [one, other] of [
        [client, server],
        [server, client],
      ] as const) {
        this.#sockets.add(one)
        one.on('error', () => undefined)
        one.on('close', () => {
          this.#sockets.delete(one)
          other.destroy()
        })
      }
    })
  }

  async open(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(join(this.#directory, SOCKET), resolve))
    return this
  }

  get url(): string {
    return `postgres://parley@/postgres?host=${this.#directory}`
  }

  /** New connections go there, and those that are open stay where they are: as when an address is given to another machine. */
  leadTo(database: string): void {
    this.#database = database
  }

  /** The server does what is sent next and contains `text`, and its answer never comes. */
  loseAnswerTo(text: string): void {
    this.#losesAfter = (sent) => sent.includes(text)
  }

  /** Sees what is sent to the server from now on. */
  watch(sent: (bytes: Buffer) => void): void {
    this.#watch = sent
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
    rmSync(this.#directory, { recursive: true, force: true })
  }
}
