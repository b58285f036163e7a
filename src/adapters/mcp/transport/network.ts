/** The HTTP client of one server: no limit of its own on time, a limit on size, and care where others send it. */
import { isIP } from 'node:net'
import type { FetchLike } from '@modelcontextprotocol/client'
import { Agent, fetch as undiciFetch } from 'undici'
import { isWithin, reachOf, type Reach } from '../../../net-policy/addresses.ts'
import { guardedLookup, systemResolve, type Resolve } from '../../../net-policy/guarded-lookup.ts'
import { configuredHeaders, type HttpServer } from './headers.ts'
import { isStream } from './read-throttle.ts'

/** The server sent us where it may not. */
export class BlockedAddressError extends Error {}

interface Network {
  readonly fetch: FetchLike
  destroy(): Promise<void>
}

/** A tool may think for longer than five minutes, and a stream may be silent for as long as it likes. */
const PATIENT = { headersTimeout: 0, bodyTimeout: 0 }

export function openNetwork(server: HttpServer, resolve: Resolve = systemResolve): Network {
  const home = new URL(server.url)
  let first: readonly Reach[] = []
  const howDeep = async (): Promise<Reach> => {
    if (first.length === 0) first = await reachesOf(home.hostname, resolve)
    return deepest(first)
  }
  const steady = steadyLookup((found) => (first = first.length === 0 ? found : first), resolve)
  const ours = new Agent({ ...PATIENT, connect: { lookup: steady } })
  const foreign = new Agent({ ...PATIENT, connect: { lookup: lookupFrom(home.hostname, howDeep, resolve) } })
  const secret = Object.keys(configuredHeaders(server))

  async function elsewhere(url: URL, init: RequestInit | undefined): Promise<Response> {
    await requireFit(url, await howDeep(), resolve)
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
      return limitResponse(url.origin === home.origin ? await send(url, direct, ours) : await elsewhere(url, direct))
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
async function requireFit(url: URL, within: Reach, resolve: Resolve): Promise<void> {
  const isLocal = within === 'loopback' && deepest(await reachesOf(url.hostname, resolve)) === 'loopback'
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLocal)) refuse(url.hostname, 'it is not https')
  if (isIP(bare(url.hostname)) !== 0 && !isWithin(reachOf(bare(url.hostname)), within)) {
    refuse(url.hostname, 'its address is not public')
  }
}

function refuse(host: string, why: string): never {
  throw new BlockedAddressError(`the server sent us to ${host}, which is not allowed: ${why}`)
}

type Lookup = ReturnType<typeof guardedLookup>

/** Gives back only such addresses as the server that names this host may lead us to. */
function lookupFrom(home: string, within: () => Promise<Reach>, resolve: Resolve): Lookup {
  return guardedLookup(
    {
      async fit(addresses) {
        const limit = await within()
        return addresses.filter(({ address }) => isWithin(reachOf(address), limit))
      },
      refusal: (hostname) => new BlockedAddressError(`${hostname} has no address that ${home} may lead to`),
    },
    resolve,
  )
}

/** The owner of a name may change where it leads: while the connection lives it leads no deeper into our network than at first. */
function steadyLookup(firstOr: (found: readonly Reach[]) => readonly Reach[], resolve: Resolve): Lookup {
  return guardedLookup(
    {
      fit(addresses) {
        const known = firstOr(addresses.map(({ address }) => reachOf(address)))
        const isSteady = (reach: Reach): boolean => reach === 'public' || known.includes(reach)
        return addresses.filter(({ address }) => isSteady(reachOf(address)))
      },
      refusal: (hostname) => new BlockedAddressError(`${hostname} leads deeper into our network now than at first`),
    },
    resolve,
  )
}

/** How deep in our network the addresses of a host are; none for a name that does not resolve. */
async function reachesOf(hostname: string, resolve: Resolve): Promise<readonly Reach[]> {
  const host = bare(hostname)
  if (isIP(host) !== 0) return [reachOf(host)]
  const found = await resolve(host, {}).catch(() => [])
  return found.map(({ address }) => reachOf(address))
}

/** Of several addresses the least deep counts; a name that does not resolve leads nowhere. */
function deepest(reaches: readonly Reach[]): Reach {
  if (reaches.length === 0) return 'public'
  if (reaches.every((one) => one === 'loopback')) return 'loopback'
  return reaches.every((one) => one !== 'public') ? 'private' : 'public'
}

/** A URL writes an IPv6 address in brackets. */
function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '')
}

/** Far more than a result may hold. */
const LIMIT_BYTES = 64 * 1024 * 1024
const BLANK_LINES = ['\n\n', '\r\r', '\r\n\r\n'] as const

/** Of a stream each event counts, of anything else the whole. */
function limitResponse(response: Response): Response {
  if (response.body === null) return response
  const measure = isStream(response) ? eventSize() : totalSize()
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      if (measure(chunk) > LIMIT_BYTES) throw new Error(`the answer is longer than ${LIMIT_BYTES} bytes`)
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

/** A blank line ends an event; it may come in two pieces. */
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
