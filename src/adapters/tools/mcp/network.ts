/** The HTTP client of one server: no limit of its own on time, a limit on size, and care where others send it. */
import { lookup as resolve } from 'node:dns/promises'
import { isIP } from 'node:net'
import { callbackify } from 'node:util'
import type { FetchLike } from '@modelcontextprotocol/client'
import { Agent, fetch as undiciFetch } from 'undici'
import { isWithin, reachOf, type Reach } from './addresses.ts'
import { bounded } from './bounded.ts'
import { configuredHeaders, type HttpServer } from './headers.ts'

/** The server sent us where it may not. */
export class Forbidden extends Error {}

export interface Network {
  readonly fetch: FetchLike
  destroy(): Promise<void>
}

/** A tool may think for longer than five minutes, and a stream may be silent for as long as it likes. */
const PATIENT = { headersTimeout: 0, bodyTimeout: 0 }

export function openNetwork(server: HttpServer): Network {
  const home = new URL(server.url)
  const ours = new Agent(PATIENT)
  let within: Promise<Reach> | undefined
  const howDeep = (): Promise<Reach> => (within ??= reach(home.hostname))
  const foreign = new Agent({ ...PATIENT, connect: { lookup: guardedLookup(howDeep, home.hostname) } })
  const secret = Object.keys(configuredHeaders(server))

  async function elsewhere(url: URL, init: RequestInit | undefined): Promise<Response> {
    await requireFit(url, await howDeep())
    const headers = new Headers(init?.headers)
    // What was configured for this server is nobody else's business.
    for (const name of secret) if (headers.get(name) === configuredHeaders(server)[name]) headers.delete(name)
    return await send(url, { ...init, headers: Object.fromEntries(headers), redirect: 'manual' }, foreign)
  }

  return {
    async fetch(given, init) {
      const url = new URL(given)
      // Whoever follows a redirect does so by asking again, and is judged again.
      const direct = { ...init, redirect: 'manual' } as const
      return bounded(url.origin === home.origin ? await send(url, direct, ours) : await elsewhere(url, direct))
    },
    async destroy() {
      await Promise.all([ours.destroy(), foreign.destroy()])
    },
  }
}

async function send(url: URL, init: RequestInit | undefined, dispatcher: Agent): Promise<Response> {
  return (await undiciFetch(url, { ...(init as object), dispatcher })) as unknown as Response
}

/**
 * A URL that a server names (its authorization server, its metadata) must not lead deeper into our network than the
 * server itself is: https, or plain http from loopback to loopback; a name is resolved once and connected to as checked.
 */
async function requireFit(url: URL, within: Reach): Promise<void> {
  const isLocal = within === 'loopback' && (await reach(url.hostname)) === 'loopback'
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLocal)) refuse(url.hostname, 'it is not https')
  if (isIP(bare(url.hostname)) !== 0 && !isWithin(reachOf(bare(url.hostname)), within)) {
    refuse(url.hostname, 'its address is not public')
  }
}

function refuse(host: string, why: string): never {
  throw new Forbidden(`the server sent us to ${host}, which is not allowed: ${why}`)
}

type Addresses = { address: string; family: number }[]
type Lookup = (hostname: string, options: object, callback: (error: Error | null, addresses: Addresses) => void) => void

/** Gives back only such addresses as the server that names this host may lead us to. */
function guardedLookup(within: () => Promise<Reach>, home: string): Lookup {
  const guarded = async (hostname: string, options: object): Promise<Addresses> => {
    const found = (await resolve(hostname, { ...options, all: true })) as Addresses
    const limit = await within()
    const fit = found.filter(({ address }) => isWithin(reachOf(address), limit))
    if (fit.length === 0) throw new Forbidden(`${hostname} has no address that ${home} may lead to`)
    return fit
  }
  return callbackify(guarded)
}

/** How deep in our network a host is; of a name with several addresses the least deep counts. */
async function reach(hostname: string): Promise<Reach> {
  const host = bare(hostname)
  if (isIP(host) !== 0) return reachOf(host)
  // A name that nobody knows leads nowhere: nothing is closer to us than the public network.
  const found = await resolve(host, { all: true }).catch(() => [])
  return deepest(found.map(({ address }) => reachOf(address)))
}

function deepest(reaches: readonly Reach[]): Reach {
  if (reaches.length === 0) return 'public'
  if (reaches.every((one) => one === 'loopback')) return 'loopback'
  return reaches.every((one) => one !== 'public') ? 'private' : 'public'
}

/** A URL writes an IPv6 address in brackets. */
function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '')
}
