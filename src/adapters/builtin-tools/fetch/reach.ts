/** Which addresses `fetch_url` may connect to: the public network alone, whatever a name resolves to at that moment. */
import { isIP } from 'node:net'
import { Agent } from 'undici'
import { reachOf } from '../../../net-policy/addresses.ts'
import { guardedLookup } from '../../../net-policy/guarded-lookup.ts'

export type MayReach = (address: string) => boolean

export const onlyPublic: MayReach = (address) => reachOf(address) === 'public'

export function guardedAgent(mayReach: MayReach): Agent {
  const lookup = guardedLookup({
    fit: (addresses) => addresses.filter(({ address }) => mayReach(address)),
    refusal: (hostname) => new Forbidden(hostname),
  })
  return new Agent({ connect: { lookup, timeout: 10_000 } })
}

/** An address in the place of a name is connected to without a lookup. */
export function requireReachable({ hostname }: URL, mayReach: MayReach): void {
  const host = hostname.replaceAll(/^\[|\]$/gu, '')
  if (isIP(host) !== 0 && !mayReach(host)) throw new Forbidden(host)
}

export class Forbidden extends Error {
  constructor(host: string) {
    super(`${host} is not in the public network, and fetch_url goes nowhere else`)
  }
}
