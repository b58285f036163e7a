/** The ports on which remote clients reach the server: those of the settings, and those that are opened while it runs. */
import { join } from 'node:path'
import { type ListenAddress, type RemoteAccess, parseListen, requireSafe, shownAddress } from '../../config/listen.ts'
import { fail, reasonOf } from '../../errors/parley-error.ts'
import { replaceFile } from '../../state-files/atomic-file.ts'
import { readTextSync } from '../../state-files/bounded-read.ts'
import type { ListenAnswer, ListenOrder } from '../admin/admin-methods.ts'
import type { CredentialStore } from '../../credentials/credential-store.ts'
import type { RemoteClients, RemoteSurroundings } from './remote-clients.ts'

interface PortSurroundings extends Omit<RemoteSurroundings, 'credentials'> {
  credentials(): Promise<CredentialStore>
}

export class RemotePorts {
  readonly #home: string
  /** The ports that are open without being in the settings, for the next server: a page and its devices come back to the same one. */
  readonly #path: string
  readonly #around: PortSurroundings
  #access: RemoteAccess = { insecureHttp: false }
  /** Loaded only where it is wanted. */
  #clients: Promise<RemoteClients> | undefined
  #opened: RemoteClients | undefined
  #settings: readonly string[] = []

  constructor(home: string, around: PortSurroundings) {
    this.#home = home
    this.#path = join(home, 'ports.json')
    this.#around = around
  }

  /** Whether remote clients can connect. They cannot start a server, so one that waits for them stays. */
  get isOpen(): boolean {
    return (this.#opened?.listening.length ?? 0) > 0
  }

  /** Where clients connect. */
  get urls(): readonly string[] {
    return this.#opened?.listening.map(({ page }) => `${page.replace('http', 'ws')}acp`) ?? []
  }

  get remark(): string | undefined {
    return this.#opened?.remark
  }

  /** Once, before anything else. Throws LISTEN_FAILED and CONFIG_INVALID. */
  async open(addresses: readonly ListenAddress[], access: RemoteAccess): Promise<void> {
    this.#access = access
    for (const address of addresses) await this.#open(address)
    this.#settings = (this.#opened?.listening ?? []).map(({ address }) => shownAddress(address))
    for (const address of this.#remembered()) await this.#reopen(address)
  }

  /** Answers with all that are open then. Throws PARAMS_INVALID, LISTEN_FAILED and CONFIG_INVALID. */
  async change({ open = [], close = [] }: ListenOrder): Promise<ListenAnswer> {
    const [opening, closing] = [open.flatMap(addressesIn), close.flatMap(addressesIn)]
    requireSafe(opening, this.#access)
    for (const address of closing) this.#opened?.stopListening(address)
    for (const address of opening) await this.#open(address)
    this.#remember()
    const { publicUrl } = this.#access
    return {
      listening: (this.#opened?.listening ?? []).map(({ address, page }) => ({
        address: shownAddress(address),
        url: page,
      })),
      ...(publicUrl !== undefined && { publicUrl: publicUrl.href }),
    }
  }

  /** Accepts no more clients. Connected ones stay. */
  close(): void {
    this.#opened?.close()
  }

  /** Ends what is still open of requests and streams. */
  destroy(): void {
    this.#opened?.destroy()
  }

  /** One that another program has taken meanwhile, or that is not safe any more, is no reason not to start. */
  async #reopen(address: ListenAddress): Promise<void> {
    try {
      requireSafe([address], this.#access)
      await this.#open(address)
    } catch (error) {
      this.#around.note('a port of the former server could not be opened', { reason: reasonOf(error) })
    }
  }

  #remembered(): readonly ListenAddress[] {
    try {
      const stored: unknown = JSON.parse(readTextSync(this.#path) ?? '[]')
      return Array.isArray(stored) ? stored.flatMap((one) => parseListen(String(one)) ?? []) : []
    } catch (error) {
      this.#around.report(error)
      return []
    }
  }

  #remember(): void {
    const open = (this.#opened?.listening ?? []).map(({ address }) => shownAddress(address))
    const others = open.filter((address) => !this.#settings.includes(address))
    try {
      replaceFile(this.#path, JSON.stringify(others))
    } catch (error) {
      // The ports are open; only the next server does not know them.
      this.#around.report(error)
    }
  }

  /** One that is open already stays as it is. */
  async #open(address: ListenAddress): Promise<void> {
    this.#clients ??= this.#load()
    const clients = await this.#clients
    this.#opened = clients
    await clients.listen(address)
    this.#around.note('listens', { urls: this.urls })
  }

  async #load(): Promise<RemoteClients> {
    const { RemoteClients: Clients } = await import('./remote-clients.ts')
    return new Clients(this.#home, this.#access, { ...this.#around, credentials: await this.#around.credentials() })
  }
}

function addressesIn(text: string): readonly ListenAddress[] {
  const reason = `${JSON.stringify(text)} is not PORT or HOST:PORT`
  return parseListen(text) ?? fail('PARAMS_INVALID', { method: '_parley/listen', reason })
}
