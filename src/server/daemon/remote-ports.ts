/** The ports on which remote clients reach the server: those of the settings, and those that are opened while it runs. */
import { type ListenAddress, type RemoteAccess, parseListen, requireSafe, shownAddress } from '../../config/listen.ts'
import { fail } from '../../errors/parley-error.ts'
import type { ListenAnswer, ListenOrder } from '../admin/admin-methods.ts'
import type { RemoteClients, RemoteSurroundings } from './remote-clients.ts'

export class RemotePorts {
  readonly #home: string
  readonly #around: RemoteSurroundings
  #access: RemoteAccess = { insecureHttp: false }
  /** Loaded only where it is wanted. */
  #clients: Promise<RemoteClients> | undefined
  #opened: RemoteClients | undefined

  constructor(home: string, around: RemoteSurroundings) {
    this.#home = home
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

  /** Once, before anything else. Throws LISTEN_FAILED and CONFIG_INVALID. */
  async open(addresses: readonly ListenAddress[], access: RemoteAccess): Promise<void> {
    this.#access = access
    for (const address of addresses) await this.#open(address)
  }

  /** Answers with all that are open then. Throws PARAMS_INVALID, LISTEN_FAILED and CONFIG_INVALID. */
  async change({ open = [], close = [] }: ListenOrder): Promise<ListenAnswer> {
    const [opening, closing] = [open.flatMap(addressesIn), close.flatMap(addressesIn)]
    requireSafe(opening, this.#access)
    for (const address of closing) this.#opened?.stopListening(address)
    for (const address of opening) await this.#open(address)
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
    return new Clients(this.#home, this.#access, this.#around)
  }
}

function addressesIn(text: string): readonly ListenAddress[] {
  const reason = `${JSON.stringify(text)} is not PORT or HOST:PORT`
  return parseListen(text) ?? fail('PARAMS_INVALID', { method: '_parley/listen', reason })
}
