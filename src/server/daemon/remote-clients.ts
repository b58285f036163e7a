/** Clients that reach the server over the network: who holds a token may connect, until the token is removed or changed. */
import { readFileSync } from 'node:fs'
import { type ListenAddress, type RemoteAccess, isLoopback } from '../../config/listen.ts'
import type { TokenHolder } from '../../credentials/access-tokens.ts'
import { Credentials, KeyRing } from '../../credentials/key-ring.ts'
import type { RemoteClientele } from '../../edge/http/connections.ts'
import { HttpListener } from '../../edge/http/http-listener.ts'
import { pageRoutes } from '../../edge/http/page/page-files.ts'
import { type DeviceDesk, pairingRoutes } from '../../edge/http/pairing.ts'
import type { Transport } from '../../edge/transport/transport.ts'
import { withoutToolOutput } from '../../edge/without-tool-output.ts'
import { fail, reasonOf } from '../../errors/parley-error.ts'
import type { Clock } from '../../ports/clock.ts'

/** Revocation takes effect within a second; commands change the tokens, which are a small file. */
const LOOK_MS = 250

export interface RemoteSurroundings {
  readonly clock: Clock
  serve(transport: Transport, holder: TokenHolder, over: 'websocket' | 'http'): void
  report(error: unknown): void
  note(what: string, details: Readonly<Record<string, unknown>>): void
}

export class RemoteClients implements RemoteClientele {
  readonly #credentials: Credentials
  readonly #around: RemoteSurroundings
  #ring = new KeyRing([])
  /** Of files of credentials that cannot be used. They are reported once. */
  #problems: ReadonlySet<string> = new Set()
  readonly #listener: HttpListener

  /** Nobody can connect before `listen`. Throws CONFIG_INVALID. */
  constructor(home: string, { tls, publicUrl }: RemoteAccess, around: RemoteSurroundings) {
    const { clock } = around
    this.#credentials = new Credentials(home, clock)
    this.#around = around
    this.#listener = new HttpListener({
      tls: tls && { cert: pem('--tls-cert', tls.certFile), key: pem('--tls-key', tls.keyFile) },
      publicUrl,
      clock,
      clients: this,
      routes: [...pageRoutes(), ...pairingRoutes(deskOf(this.#credentials, clock), clock)],
    })
    this.#look()
  }

  get listening(): HttpListener['listening'] {
    return this.#listener.listening
  }

  /** Throws LISTEN_FAILED and CONFIG_INVALID. */
  async listen(address: ListenAddress): Promise<void> {
    await this.#listener.listen({ ...address, isLoopback: isLoopback(address.host) })
  }

  stopListening(address: ListenAddress): void {
    this.#listener.stopListening(address)
  }

  holderOf(token: string): TokenHolder | undefined {
    this.#refresh()
    return this.#ring.holderOf(token)
  }

  connected(transport: Transport, holder: TokenHolder, over: 'websocket' | 'http'): void {
    this.#around.serve(holder.hidesTools === true ? withoutToolOutput(transport) : transport, holder, over)
    try {
      this.#credentials.used(holder)
    } catch (error) {
      this.#around.report(error)
    }
  }

  report(error: unknown): void {
    this.#around.report(error)
  }

  /** Accepts no more clients. Connected ones stay. */
  close(): void {
    this.#listener.close()
  }

  /** Every client has been told that the server stops. */
  destroy(): void {
    this.#listener.destroy()
  }

  /** Goes on after `close`: a token can be removed while turns end. */
  #look(): void {
    this.#refresh()
    this.#listener.recheck((holder) => this.#ring.changeFor(holder))
    this.#around.clock.setTimer(LOOK_MS, () => this.#look())
  }

  #refresh(): void {
    const problems = new Set<string>()
    this.#ring = this.#credentials.ring((error) => {
      const problem = reasonOf(error)
      problems.add(problem)
      if (!this.#problems.has(problem)) this.#around.report(error)
    })
    this.#problems = problems
  }
}

function deskOf(credentials: Credentials, clock: Pick<Clock, 'now'>): DeviceDesk {
  return {
    pair: (code, name) => credentials.devices.pair(code, name),
    shareOf: (code) => credentials.shares.find(code),
    leave: (holder) => credentials.leave(holder),
    now: () => clock.now(),
  }
}

function pem(key: string, path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    return fail('CONFIG_INVALID', { key, value: JSON.stringify(path), reason: reasonOf(error) }, error)
  }
}
