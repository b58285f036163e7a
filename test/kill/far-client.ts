/**
 * The client of a life, on another machine: over WebSocket or HTTP, to a server that is killed like any other, through a proxy that
 * cuts, freezes and reorders connections and breaks them at any byte all the while.
 */
import { spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { PassThrough } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { AccessTokens } from '../../src/credentials/access-tokens.ts'
import { environmentOf } from '../e2e/environment.ts'
import { type Start, binary } from '../e2e/parley.ts'
import { type Exit, RawClient } from '../e2e/raw-client.ts'
import { type Chance, chanceOf } from '../series/chance.ts'
import { FaultyProxy } from '../wire/faulty-proxy.ts'
import { RawHttp } from '../wire/raw-http.ts'
import { RawWebSocket } from '../wire/raw-web-socket.ts'
import { Link } from './link.ts'

export type Over = 'websocket' | 'http'

/** What the proxy did to the network of a life, and how often the client came back. */
export const TROUBLES = [
  'cut',
  'frozen',
  'broken at any byte, in another order',
  'shut',
  'the client came back',
] as const
export type Trouble = (typeof TROUBLES)[number]

interface Opening {
  readonly token: string
  readonly over: Over
  readonly seed: number
  readonly stdin: PassThrough
  readonly stdout: PassThrough
}

/** Milliseconds between two faults, and that one lasts. */
const CALM = { least: 20, most: 400 }
const FAULT = { least: 5, most: 120 }

export class FarClient extends RawClient {
  readonly #far: Promise<Link | undefined>
  readonly #troubles: Trouble[] = []
  #proxy: FaultyProxy | undefined
  #link: Link | undefined

  constructor({ home, agent, env = {}, bin = binary }: Start, { over, seed }: Pick<Opening, 'over' | 'seed'>) {
    mkdirSync(home, { recursive: true, mode: 0o700 })
    const tokens = new AccessTokens(home, Date)
    // Each life has one of its own.
    const token = tokens.add(`far-${tokens.stored().length}`, 'admin')
    const child = spawn(process.execPath, [bin, 'serve', '--listen', '0'], {
      cwd: '/',
      env: environmentOf({ home, agent, env }),
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
      found === undefined ? undefined : this.#open(found, { token, over, seed, ...streams }),
    )
    // Who waits for an answer hears that the server is gone.
    this.#far.catch(() => undefined)
    void this.exited.then(() => this.#proxy?.close())
  }

  get troubles(): readonly Trouble[] {
    const returns = this.#link?.returns ?? 0
    return [...this.#troubles, ...Array.from({ length: returns }, (): Trouble => 'the client came back')]
  }

  override async leave(): Promise<Exit> {
    await (await this.#far)?.leave()
    this.child.kill('SIGTERM')
    return this.exited
  }

  /** Lines go on as they are; what comes is written as lines. */
  async #open(port: number, { token, over, seed, stdin, stdout }: Opening): Promise<Link> {
    const chance = chanceOf(seed)
    const proxy = await FaultyProxy.before(() => port, chance)
    this.#proxy = proxy
    const url = `ws://127.0.0.1:${proxy.port}/acp`
    this.#link = new Link({
      dial: () => (over === 'http' ? RawHttp.greeted(url, token) : RawWebSocket.greeted(url, token)),
      heard: (message) => stdout.write(`${JSON.stringify(message)}\n`),
      isOver: () => this.gone,
    })
    const link = this.#link
    stdin.on('data', (bytes: Buffer) => link.write(bytes))
    void this.#trouble(proxy, chance)
    return link
  }

  async #trouble(proxy: FaultyProxy, chance: Chance): Promise<void> {
    while (!this.gone) {
      await sleep(chance.between(CALM.least, CALM.most))
      const ms = chance.between(FAULT.least, FAULT.most)
      const trouble = chance.pick(['cut', 'frozen', 'broken at any byte, in another order', 'shut'] as const)
      this.#troubles.push(trouble)
      if (trouble === 'cut') proxy.cut()
      else if (trouble === 'frozen') await proxy.freeze(ms)
      else if (trouble === 'shut') await proxy.shut(ms)
      else await proxy.fret(ms)
    }
  }
}
