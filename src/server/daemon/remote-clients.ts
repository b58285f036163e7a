/** Clients that reach the server over the network. A holder of a token may connect, until the token is removed or changed. */
import type { ListenAddress, RemoteAccess } from '../../config/listen.ts'
import { isLoopback } from '../../net-policy/loopback.ts'
import type { TokenHolder } from '../../credentials/access-tokens.ts'
import { type CredentialStore, LiveKeyRing } from '../../credentials/credential-store.ts'
import { reaches } from '../../credentials/scope.ts'
import type { Principal } from '../../edge/method-access.ts'
import { type CertificateFiles, changesOf, readTls, remarkOn } from '../../edge/http/certificate-files.ts'
import { TrustedProxies } from '../../edge/http/admission/client-address.ts'
import type { RemoteClientele } from '../../edge/http/connections.ts'
import { HttpListener } from '../../edge/http/http-listener.ts'
import { notificationRoutes } from '../../edge/http/page/notifications.ts'
import { pageRoutes } from '../../edge/http/page/page-files.ts'
import type { RemoteLimits } from '../../edge/http/admission/remote-limits.ts'
import { RequestRate } from '../../edge/http/admission/request-rate.ts'
import { type DeviceDesk, pairingRoutes } from '../../edge/http/pairing.ts'
import type { Transport } from '../../edge/transport/transport.ts'
import { withoutToolOutput } from '../../edge/without-tool-output.ts'
import type { Clock } from '../../ports/clock.ts'
import { PushDesk, type PushSurroundings } from '../push/push-desk.ts'

/** Revocation takes effect within a second; commands change the credentials, which are small. */
const TOKEN_POLL_MS = 250
/** How soon a renewed certificate is used. */
const RENEW_MS = 5_000

export interface RemoteSurroundings {
  readonly limits: RemoteLimits
  readonly clock: Clock
  readonly credentials: CredentialStore
  readonly push: Pick<PushSurroundings, 'sessions' | 'services'>
  serve(transport: Transport, principal: Principal): void
  report(error: unknown): void
  note(what: string, details: Readonly<Record<string, unknown>>): void
}

export class RemoteClients implements RemoteClientele {
  readonly #credentials: CredentialStore
  readonly #around: RemoteSurroundings
  readonly #ring: LiveKeyRing
  readonly #listener: HttpListener
  readonly #newSessions: RequestRate

  readonly #access: RemoteAccess
  /** When the files of the certificate were last changed. */
  #certified: string
  /** The change that was no use. */
  #refused: string | undefined

  /** Why clients refuse the certificate; undefined where they do not. */
  remark: string | undefined

  /** No client can connect before `listen`. Throws CONFIG_INVALID. */
  constructor(home: string, access: RemoteAccess, around: RemoteSurroundings) {
    const { tls, publicUrl, allowedOrigins = [], trustedProxies = [] } = access
    this.#access = access
    this.#certified = tls === undefined ? '' : changesOf(tls)
    const { clock, credentials } = around
    this.#credentials = credentials
    this.#ring = new LiveKeyRing(credentials, (error) => around.report(error))
    this.#around = around
    const push = new PushDesk({
      ...around.push,
      home,
      clock,
      ring: () => this.#ring.current,
      report: (error) => around.report(error),
    })
    const { sessionsPerMinute: burst } = around.limits
    this.#newSessions = new RequestRate(() => clock.monotonicNow(), { perSecond: burst / 60, burst })
    this.#listener = new HttpListener({
      tls: tls && this.#tlsOf(tls),
      publicUrl,
      allowedOrigins,
      proxies: new TrustedProxies(trustedProxies),
      limits: around.limits,
      clock,
      clients: this,
      routes: [...pageRoutes(), ...pairingRoutes(deskOf(credentials, clock)), ...notificationRoutes(push)],
    })
    this.#look()
    if (tls !== undefined) this.#renewLater()
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

  holderOf(token: string): Promise<TokenHolder | undefined> {
    return this.#ring.holderOf(token)
  }

  connected(transport: Transport, holder: TokenHolder, over: 'websocket' | 'http'): void {
    const { id, kind, name, role, scope, hidesTools } = holder
    // All paired devices are the owner's; tokens and share links are for other people.
    const person = kind === 'device' ? undefined : `${kind} ${name}`
    const waitForSession = (): number => this.#newSessions.take(id)
    const shown = hidesTools === true ? withoutToolOutput(transport) : transport
    this.#around.serve(shown, { transport: over, isLocalUser: false, role, scope, name, person, waitForSession })
    try {
      this.#credentials.used(holder)
    } catch (error) {
      this.#around.report(error)
    }
  }

  async mayRead({ scope }: TokenHolder, sessionId: string): Promise<boolean> {
    if (scope === 'all') return true
    const row = await (await this.#around.push.sessions).find(sessionId)
    return row !== undefined && reaches(scope, row)
  }

  report(error: unknown): void {
    this.#around.report(error)
  }

  /** Accepts no more clients. Connected ones stay. */
  close(): void {
    this.#listener.close()
  }

  /** Every client knows that the server stops. */
  destroy(): void {
    this.#listener.destroy()
  }

  /** Goes on after `close`: a token can be removed while turns end. */
  #look(): void {
    const ring = this.#ring.look()
    this.#listener.recheck((holder) => ring.changeFor(holder))
    this.#around.clock.setTimer(TOKEN_POLL_MS, () => this.#look())
  }

  #renewLater(): void {
    this.#around.clock.setTimer(RENEW_MS, () => {
      this.#renew()
      this.#renewLater()
    })
  }

  /** The renewal of a certificate may have written only one of its two files so far; then the next check finds both. */
  #renew(): void {
    const { tls } = this.#access
    if (tls === undefined) return
    const certified = changesOf(tls)
    if (certified === this.#certified) return
    try {
      this.#listener.renew(this.#tlsOf(tls))
      this.#certified = certified
      this.#around.note('certificate renewed', { cert: tls.certFile })
    } catch (error) {
      if (certified !== this.#refused) this.#around.report(error)
      this.#refused = certified
    }
  }

  /** Throws CONFIG_INVALID. */
  #tlsOf(files: CertificateFiles): ReturnType<typeof readTls> {
    const tls = readTls(files)
    this.remark = remarkOn(files, tls, this.#around.clock.now())
    if (this.remark !== undefined) this.#around.note(this.remark, {})
    return tls
  }
}

function deskOf(credentials: CredentialStore, clock: Pick<Clock, 'now'>): DeviceDesk {
  return {
    pair: (code, name) => credentials.change(({ devices }) => devices.pair(code, name)),
    async shareOf(code) {
      const { refresh } = credentials
      const link = credentials.known.shares.find(code)
      if (link !== undefined || refresh === undefined || credentials.known.devices.isOffered(code)) return link
      await refresh()
      return credentials.known.shares.find(code)
    },
    leave: (holder) => credentials.change((all) => all.leave(holder)),
    now: () => clock.now(),
  }
}
