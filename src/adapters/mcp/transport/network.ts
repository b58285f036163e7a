/** The HTTP client for one server: patient, limited in size, and careful about addresses that the server names. OAuth uses it too. */
import { isIP } from 'node:net'
import type { FetchLike } from '@modelcontextprotocol/client'
import { fetch as undiciFetch, type Agent } from 'undici'
import { addressScope, mayNameAddress, type AddressScope } from '../../../net-policy/address-scope.ts'
import {
  guardedDispatcher,
  systemResolve,
  type Addresses,
  type Resolve,
} from '../../../net-policy/guarded-dispatcher.ts'
import { configuredHeaders, type HttpMcpServer } from './headers.ts'
import { isStream } from './read-throttle.ts'

/** The server sent us to an address that it may not name. */
export class BlockedAddressError extends Error {}

interface Network {
  readonly fetch: FetchLike
  destroy(): Promise<void>
}

/** A tool may work for longer than five minutes, and a stream may be silent for any time. */
const NO_TIMEOUTS = { headersTimeout: 0, bodyTimeout: 0 }

export function openNetwork(server: HttpMcpServer, resolve: Resolve = systemResolve): Network {
  const home = new URL(server.url)
  const secretHeaders = Object.entries(configuredHeaders(server))
  let firstScopes: readonly AddressScope[] = []
  const homeScope = async (): Promise<AddressScope> => {
    if (firstScopes.length === 0) firstScopes = await scopesOf(home.hostname, resolve)
    return widest(firstScopes)
  }

  /** The owner of the server's name may change its addresses; while the connection lives, none may be deeper inside our network than at first. */
  const toServer = guardedDispatcher(
    {
      allowed(addresses) {
        if (firstScopes.length === 0) firstScopes = scopesIn(addresses)
        const known = new Set<AddressScope>(['public', ...firstScopes])
        return addresses.filter(({ address }) => known.has(addressScope(address)))
      },
      refusal: (hostname) => new BlockedAddressError(`${hostname} leads deeper into our network now than at first`),
    },
    { ...NO_TIMEOUTS, resolve },
  )

  /** For hosts that the server names: its authorization server, or the target of a redirect. */
  const toNamedHosts = guardedDispatcher(
    {
      async allowed(addresses) {
        const scope = await homeScope()
        return addresses.filter(({ address }) => mayNameAddress(scope, addressScope(address)))
      },
      refusal: (hostname) => new BlockedAddressError(`${hostname} has no address that ${home.hostname} may lead to`),
    },
    { ...NO_TIMEOUTS, resolve },
  )

  async function fetchNamedHost(url: URL, init: RequestInit | undefined): Promise<Response> {
    await requireAllowed(url, await homeScope(), resolve)
    const headers = new Headers(init?.headers)
    // The headers that the user configured are for this server alone.
    for (const [name, value] of secretHeaders) if (headers.get(name) === value) headers.delete(name)
    return await send(url, { ...init, headers: Object.fromEntries(headers), redirect: 'manual' }, toNamedHosts)
  }

  return {
    async fetch(given, init) {
      const url = new URL(given)
      // The caller follows a redirect by a request of its own, which is checked again.
      const direct = { ...init, redirect: 'manual' } as const
      const isHome = url.origin === home.origin
      return limitResponse(isHome ? await send(url, direct, toServer) : await fetchNamedHost(url, direct))
    },
    async destroy() {
      await Promise.all([toServer.destroy(), toNamedHosts.destroy()])
    },
  }
}

async function send(url: URL, init: RequestInit | undefined, dispatcher: Agent): Promise<Response> {
  return (await undiciFetch(url, { ...(init as object), dispatcher })) as unknown as Response
}

/** A URL that a server names must be https, or plain http from loopback to loopback, and no deeper inside our network than the server. */
async function requireAllowed(url: URL, homeScope: AddressScope, resolve: Resolve): Promise<void> {
  const isLocal = homeScope === 'loopback' && widest(await scopesOf(url.hostname, resolve)) === 'loopback'
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLocal)) block(url.hostname, 'it is not https')
  const host = withoutBrackets(url.hostname)
  if (isIP(host) !== 0 && !mayNameAddress(homeScope, addressScope(host)))
    block(url.hostname, 'its address is not public')
}

function block(host: string, why: string): never {
  throw new BlockedAddressError(`the server sent us to ${host}, which is not allowed: ${why}`)
}

/** The scopes of a host's addresses; none for a name that does not resolve. */
async function scopesOf(hostname: string, resolve: Resolve): Promise<readonly AddressScope[]> {
  const host = withoutBrackets(hostname)
  if (isIP(host) !== 0) return [addressScope(host)]
  return scopesIn(await resolve(host, {}).catch(() => []))
}

function scopesIn(addresses: Addresses): readonly AddressScope[] {
  return addresses.map(({ address }) => addressScope(address))
}

/** Of several scopes the widest counts, because it allows the server to name the least. A name without addresses counts as public. */
function widest(scopes: readonly AddressScope[]): AddressScope {
  if (scopes.length === 0) return 'public'
  if (scopes.every((one) => one === 'loopback')) return 'loopback'
  return scopes.every((one) => one !== 'public') ? 'private' : 'public'
}

/** A URL writes an IPv6 address in brackets. */
function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '')
}

/** Far more than a result may hold. */
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024
const BLANK_LINES = ['\n\n', '\r\r', '\r\n\r\n'] as const

/** Aborts a response that is too large: a single event of a stream, or the whole of anything else. */
function limitResponse(response: Response): Response {
  if (response.body === null) return response
  const measure = isStream(response) ? eventSize() : totalSize()
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      if (measure(chunk) > MAX_RESPONSE_BYTES) throw new Error(`the answer is longer than ${MAX_RESPONSE_BYTES} bytes`)
      controller.enqueue(chunk)
    },
  })
  const { status, statusText, headers } = response
  return new Response(response.body.pipeThrough(counter), { status, statusText, headers })
}

type Measure = (chunk: Uint8Array) => number

function totalSize(): Measure {
  let size = 0
  return (chunk) => (size += chunk.length)
}

/** A blank line ends an event; it may arrive in two chunks. */
function eventSize(): Measure {
  let size = 0
  let tail = ''
  return (chunk) => {
    const text = tail + Buffer.from(chunk).toString('latin1')
    const end = Math.max(...BLANK_LINES.map((blank) => text.lastIndexOf(blank)))
    tail = text.slice(-3)
    size = end === -1 ? size + chunk.length : text.length - end
    return size
  }
}
