/**
 * The addresses to which `fetch_url` may connect: those of the public network, checked on the address to which a name
 * resolves at that moment.
 */
import type { Agent } from 'undici'
import { addressScope } from '../../../net-policy/address-scope.ts'
import { guardedDispatcher } from '../../../net-policy/guarded-dispatcher.ts'

export type MayReach = (address: string) => boolean

export const onlyPublic: MayReach = (address) => addressScope(address) === 'public'

export function guardedAgent(mayReach: MayReach): Agent {
  return guardedDispatcher({
    allowed: (addresses) => addresses.filter(({ address }) => mayReach(address)),
    refusal: (hostname) => new Forbidden(hostname),
  })
}

export class Forbidden extends Error {
  constructor(host: string) {
    super(`${host} is not in the public network, and fetch_url goes nowhere else`)
  }
}
