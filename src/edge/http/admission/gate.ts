/** Lets a request in: by its host, its origin and its credential, in this order. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { TokenHolder } from '../../../credentials/access-tokens.ts'
import { Attempts } from '../../../credentials/rate-limit.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { TrustedProxies } from './client-address.ts'
import type { RemoteClientele } from '../connections.ts'
import type { RemoteLimits } from './remote-limits.ts'
import { isParleyError } from '../../../errors/parley-error.ts'
import {
  DATABASE_AWAY,
  NO_CREDENTIAL,
  type Reachable,
  type Refusal,
  WRONG_CREDENTIAL,
  credentialIn,
  refusalOfCookie,
  refusalOfHost,
  refusalOfOrigin,
  tooManyRequests,
  tooManyTries,
} from '../request-checks.ts'
import { RequestRate } from './request-rate.ts'

interface GateDeps {
  readonly clock: Pick<Clock, 'monotonicNow'>
  readonly proxies: TrustedProxies
  readonly limits: Pick<RemoteLimits, 'requestsPerSecond'>
}

export class Gate {
  readonly #attempts: Attempts
  readonly #rate: RequestRate
  readonly #proxies: TrustedProxies
  readonly #clients: Pick<RemoteClientele, 'holderOf'>

  constructor(clients: Pick<RemoteClientele, 'holderOf'>, { clock, proxies, limits }: GateDeps) {
    const { requestsPerSecond } = limits
    this.#clients = clients
    this.#proxies = proxies
    this.#attempts = new Attempts(() => clock.monotonicNow())
    this.#rate = new RequestRate(() => clock.monotonicNow(), {
      perSecond: requestsPerSecond,
      burst: 10 * requestsPerSecond,
    })
  }

  /** What is wrong about a request whatever its credential is. */
  refusalOf(headers: IncomingHttpHeaders, reachable: Reachable): Refusal | undefined {
    return refusalOfHost(headers, reachable) ?? refusalOfOrigin(headers, reachable)
  }

  /** A right token is accepted even after wrong ones from the same network. */
  async holderOf(request: IncomingMessage, reachable: Reachable): Promise<TokenHolder | Refusal> {
    const { method = '', headers } = request
    const credential = credentialIn(request, reachable)
    if (credential === undefined) return NO_CREDENTIAL
    const refusal = credential.kind === 'cookie' ? refusalOfCookie(method, headers, reachable) : undefined
    if (refusal !== undefined) return refusal
    try {
      const holder = await this.#clients.holderOf(credential.token)
      if (holder !== undefined) return this.#tooFast(holder) ?? holder
    } catch (error) {
      if (isParleyError(error, 'CLUSTER_UNREACHABLE')) return DATABASE_AWAY
      throw error
    }
    return this.refuseWrong(request, WRONG_CREDENTIAL)
  }

  /** Counts one more wrong credential of any kind; after too many of its network the answer says when to try again. */
  refuseWrong({ headers, socket }: IncomingMessage, refusal: Refusal): Refusal {
    const address = this.#proxies.addressOf(socket.remoteAddress ?? '', headers)
    const wait = this.#attempts.waitFor(address)
    this.#attempts.wrong(address)
    return wait === 0 ? refusal : tooManyTries(wait)
  }

  #tooFast({ id }: TokenHolder): Refusal | undefined {
    const wait = this.#rate.take(id)
    return wait === 0 ? undefined : tooManyRequests(wait)
  }
}
