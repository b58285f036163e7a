/** Resolves names for connections, and gives back only addresses that were judged: a name cannot become another address in between. */
import { lookup } from 'node:dns/promises'
import { callbackify } from 'node:util'

export type Addresses = { address: string; family: number }[]

/** As the system resolves names. */
export type Resolve = (hostname: string, options: object) => Promise<Addresses>

type LookupForConnections = (
  hostname: string,
  options: object,
  callback: (error: Error | null, addresses: Addresses) => void,
) => void

export interface Guard {
  /** Of all addresses of a name those that may be connected to. */
  readonly fit: (addresses: Addresses) => Addresses | Promise<Addresses>
  /** What is thrown where none is left. */
  readonly refusal: (hostname: string) => Error
}

export const systemResolve: Resolve = (hostname, options) => lookup(hostname, { ...options, all: true })

/** For the option `connect.lookup` of an HTTP client. */
export function guardedLookup({ fit, refusal }: Guard, resolve: Resolve = systemResolve): LookupForConnections {
  return callbackify(async (hostname: string, options: object): Promise<Addresses> => {
    const addresses = await fit(await resolve(hostname, options))
    if (addresses.length === 0) throw refusal(hostname)
    return addresses
  })
}
