/** The client of a life, on another machine: over WebSocket or HTTP, through a proxy, to a server that is killed like any other. */
import { spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { PassThrough } from 'node:stream'
import { AccessTokens } from '../../src/credentials/access-tokens.ts'
import { cleanEnvironment } from '../e2e/environment.ts'
import { type Start, binary } from '../e2e/parley.ts'
import { type Exit, RawClient } from '../e2e/raw-client.ts'
import { chanceOf } from '../series/chance.ts'
import { FaultyProxy } from '../wire/faulty-proxy.ts'
import type { RawConnection } from '../wire/raw-connection.ts'
import { RawHttp } from '../wire/raw-http.ts'
import { RawWebSocket } from '../wire/raw-web-socket.ts'
import { join } from 'node:path'

export type Over = 'websocket' | 'http'

type Far = RawConnection & { readonly closed: Promise<unknown>; leave(): Promise<void> }

export class FarClient extends RawClient {
  readonly #far: Promise<Far | undefined>
  #proxy: FaultyProxy | undefined

  constructor({ home, agent, env = {}, bin = binary }: Start, over: Over) {
    mkdirSync(home, { recursive: true, mode: 0o700 })
    const tokens = new AccessTokens(home, Date)
    // Each life has one of its own.
    const token = tokens.add(`far-${tokens.stored().length}`, 'admin')
    const child = spawn(process.execPath, [bin, 'serve', '--listen', '0'], {
      cwd: '/',
      env: {
        ...cleanEnvironment(),
        XDG_CONFIG_HOME: join(home, 'config'),
        PARLEY_HOME: home,
        PARLEY_AGENT: agent,
        ...env,
      },
    })
    const streams = { stdin: new PassThrough(), stdout: new PassThrough() }
    super(child, streams)
    let said = ''
    const port = new Promise<number>((resolve) => {
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        said += text
        const [, found] = /127\.0\.0\.1:(\d+)\/acp/u.exec(said) ?? []
        if (found !== undefined) resolve(Number(found))
      })
    })
    this.#far = Promise.race([this.exited.then(() => undefined), port]).then((found) =>
      found === undefined ? undefined : this.#open(found, { token, over, ...streams }),
    )
    // Who waits for an answer hears that the server is gone.
    this.#far.catch(() => undefined)
    void this.exited.then(() => this.#proxy?.close())
  }

  override async leave(): Promise<Exit> {
    await (await this.#far)?.leave()
    this.child.kill('SIGTERM')
    return this.exited
  }

  /** Lines go on as they are; what comes is written as lines. */
  async #open(
    port: number,
    {
      token,
      over,
      stdin,
      stdout,
    }: { readonly token: string; readonly over: Over; readonly stdin: PassThrough; readonly stdout: PassThrough },
  ): Promise<Far> {
    this.#proxy = await FaultyProxy.before(() => port, chanceOf(port))
    const url = `ws://127.0.0.1:${this.#proxy.port}/acp`
    const far: Far = over === 'http' ? await RawHttp.greeted(url, token) : await RawWebSocket.greeted(url, token)
    far.listen((message) => stdout.write(`${JSON.stringify(message)}\n`))
    stdin.on('data', (bytes: Buffer) => far.write(bytes))
    return far
  }
}
