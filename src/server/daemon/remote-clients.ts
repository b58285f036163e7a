/** Clients that reach the server over the network: who holds a token may connect, until the token is removed or changed. */
import { readFileSync } from 'node:fs'
import { type RemoteAccess, isLoopback } from '../../config/listen.ts'
import type { Config } from '../../config/settings.ts'
import { AccessTokens, type TokenHolder, TokenRing } from '../../credentials/access-tokens.ts'
import type { RemoteClientele } from '../../edge/http/connections.ts'
import { HttpListener } from '../../edge/http/http-listener.ts'
import type { Transport } from '../../edge/transport/transport.ts'
import { fail, reasonOf } from '../../errors/parley-error.ts'
import type { Clock } from '../../ports/clock.ts'

/** Revocation takes effect within a second; commands change the tokens, which are a small file. */
const LOOK_MS = 250

interface Surroundings {
  readonly clock: Clock
  serve(transport: Transport, holder: TokenHolder, over: 'websocket' | 'http'): void
  report(error: unknown): void
}

export class RemoteClients implements RemoteClientele {
  readonly #tokens: AccessTokens
  readonly #around: Surroundings
  #ring = new TokenRing([])
  /** The file of the tokens cannot be used, and that has been reported. Nobody is let in meanwhile. */
  #isBroken = false
  #listener: HttpListener | undefined

  private constructor(home: string, around: Surroundings) {
    this.#tokens = new AccessTokens(home, around.clock)
    this.#around = around
  }

  /** Throws LISTEN_FAILED and CONFIG_INVALID. */
  static async open({ home, listen }: Config, access: RemoteAccess, around: Surroundings): Promise<RemoteClients> {
    const clients = new RemoteClients(home, around)
    const { tls, publicUrl } = access
    clients.#listener = await HttpListener.open({
      addresses: listen.map((address) => ({ ...address, isLoopback: isLoopback(address.host) })),
      tls: tls && { cert: pem('--tls-cert', tls.certFile), key: pem('--tls-key', tls.keyFile) },
      publicUrl,
      clock: around.clock,
      clients,
      routes: [],
    })
    clients.#look()
    return clients
  }

  get urls(): readonly string[] {
    return this.#listener?.urls ?? []
  }

  holderOf(token: string): TokenHolder | undefined {
    this.#refresh()
    return this.#ring.holderOf(token)
  }

  connected(transport: Transport, holder: TokenHolder, over: 'websocket' | 'http'): void {
    this.#around.serve(transport, holder, over)
    try {
      this.#tokens.used(holder)
    } catch (error) {
      this.#around.report(error)
    }
  }

  report(error: unknown): void {
    this.#around.report(error)
  }

  /** Accepts no more clients. Connected ones stay. */
  close(): void {
    this.#listener?.close()
  }

  /** Goes on after `close`: a token can be removed while turns end. */
  #look(): void {
    this.#refresh()
    this.#listener?.recheck((holder) => this.#ring.changeFor(holder))
    this.#around.clock.setTimer(LOOK_MS, () => this.#look())
  }

  #refresh(): void {
    try {
      this.#ring = this.#tokens.ring()
      this.#isBroken = false
    } catch (error) {
      this.#ring = new TokenRing([])
      if (!this.#isBroken) this.#around.report(error)
      this.#isBroken = true
    }
  }
}

function pem(key: string, path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    return fail('CONFIG_INVALID', { key, value: JSON.stringify(path), reason: reasonOf(error) }, error)
  }
}
