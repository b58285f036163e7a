/** The local HTTP server that receives the redirect of the authorization server after a login. */
import { timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

interface CallbackAnswer {
  readonly params: URLSearchParams
  /** Shows the user the outcome. */
  readonly answer: (sentence: string) => void
}

export interface CallbackServer {
  /** The redirect address for the authorization server. */
  readonly redirect: string
  readonly came: Promise<CallbackAnswer>
  close(): void
}

interface CallbackServerOptions {
  /** The address of the last login; its port is used again if it is free. */
  readonly wanted: string | undefined
  /** Whether exactly this address is required. */
  readonly exactly: boolean
  /** A request without this state is not an answer to our login. */
  readonly state: string
}

const HOST = '127.0.0.1'
const PATH = '/callback'

export async function openCallbackServer({ wanted, exactly, state }: CallbackServerOptions): Promise<CallbackServer> {
  const address = new URL(wanted ?? `http://${HOST}:0${PATH}`)
  const server = createServer()
  await listen(server, Number(address.port)).catch(async (error: unknown) => {
    if (exactly) throw error
    await listen(server, 0)
  })
  address.port = String((server.address() as AddressInfo).port)
  const came = new Promise<CallbackAnswer>((resolve) => {
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const url = new URL(request.url ?? '/', address)
      const isOurs = url.pathname === address.pathname && request.headers.host === address.host
      if (!isOurs || request.method !== 'GET') return page(response, 404, 'There is nothing here.')
      if (!isSame(url.searchParams.get('state'), state)) return page(response, 400, 'Parley did not start this login.')
      resolve({ params: url.searchParams, answer: (sentence) => page(response, 200, sentence) })
    })
  })
  return {
    // Literally as configured, because the authorization server compares it as text.
    redirect: exactly && wanted !== undefined ? wanted : address.href,
    came,
    close() {
      server.close()
      server.closeIdleConnections()
      // The response to the browser may still be in flight.
      server.unref()
    },
  }
}

async function listen(server: ReturnType<typeof createServer>, port: number): Promise<void> {
  server.listen(port, HOST)
  await once(server, 'listening')
}

function isSame(given: string | null, expected: string): boolean {
  const [one, other] = [Buffer.from(given ?? ''), Buffer.from(expected)]
  return one.length === other.length && timingSafeEqual(one, other)
}

/** Shows only sentences of ours, never a part of the URL. */
function page(response: ServerResponse, status: number, sentence: string): void {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'",
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    connection: 'close',
  })
  response.end(`<!doctype html><title>Parley</title><p>${sentence}</p>\n`)
}
