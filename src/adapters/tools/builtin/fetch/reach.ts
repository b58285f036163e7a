/** Which addresses `fetch_url` may connect to: the public network alone, whatever a name resolves to at that moment. */
import { lookup as resolve } from 'node:dns/promises'
import { BlockList, isIP, isIPv6 } from 'node:net'
import { callbackify } from 'node:util'
import { Agent } from 'undici'
import { reachOf } from '../../mcp/addresses.ts'

export type MayReach = (address: string) => boolean

/** Ways of writing an IPv4 address within an IPv6 one that lead to it through somebody else. */
const DISGUISED = new BlockList()
for (const [network, bits] of [
  ['2002::', 16],
  ['2001::', 32],
  ['::', 96],
  ['fec0::', 10],
] as const)
  DISGUISED.addSubnet(network, bits, 'ipv6')

export const onlyPublic: MayReach = (address) =>
  reachOf(address) === 'public' && !(isIPv6(address) && DISGUISED.check(address, 'ipv6'))

/** Connects only to addresses that it has checked itself, so that a name cannot become another one in between. */
export function guardedAgent(mayReach: MayReach): Agent {
  const guarded = async (hostname: string, options: object) => {
    const found = await resolve(hostname, { ...options, all: true })
    const fit = found.filter(({ address }) => mayReach(address))
    if (fit.length === 0) throw new Forbidden(hostname)
    return fit
  }
  return new Agent({ connect: { lookup: callbackify(guarded), timeout: 10_000 } })
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
