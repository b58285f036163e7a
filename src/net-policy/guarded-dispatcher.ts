/** An HTTP dispatcher that connects only to addresses that a guard allows. Each name is resolved once, and exactly the checked address is used. */
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { callbackify } from 'node:util'
import { Agent, buildConnector } from 'undici'

export type Addresses = { address: string; family: number }[]

export type Resolve = (hostname: string, options: object) => Promise<Addresses>

export interface AddressGuard {
  /** Those of a host's addresses that may be connected to. */
  readonly allowed: (addresses: Addresses) => Addresses | Promise<Addresses>
  /** The error for a host that has no such address. */
  readonly refusal: (hostname: string) => Error
}

export interface DispatcherOptions extends Pick<Agent.Options, 'headersTimeout' | 'bodyTimeout'> {
  /** Replaces the resolver of the system. */
  readonly resolve?: Resolve | undefined
}

export const systemResolve: Resolve = (hostname, options) => lookup(hostname, { ...options, all: true })

/** For `fetch_url`, the MCP transport and OAuth alike: none of them may connect in any other way. */
export function guardedDispatcher(
  { allowed, refusal }: AddressGuard,
  { resolve = systemResolve, ...timeouts }: DispatcherOptions = {},
): Agent {
  async function allowedOf(hostname: string, addresses: Addresses): Promise<Addresses> {
    const kept = await allowed(addresses)
    if (kept.length === 0) throw refusal(hostname)
    return kept
  }

  const guardedLookup = callbackify(async (hostname: string, options: object) =>
    allowedOf(hostname, await resolve(hostname, options)),
  )
  const guardedAddress = callbackify(allowedOf)
  const connect = buildConnector({ lookup: guardedLookup })
  return new Agent({
    ...timeouts,
    connect(target, callback) {
      const family = isIP(target.hostname)
      if (family === 0) return connect(target, callback)
      // An address in place of a name is connected to without a lookup.
      guardedAddress(target.hostname, [{ address: target.hostname, family }], (error) =>
        error === null ? connect(target, callback) : callback(error, null),
      )
    },
  })
}
