/** Where the browser comes back to: a page of this machine that only the authorization server's answer opens. */
import { timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

interface CallbackAnswer {
  readonly params: URLSearchParams
  /** Tells the person how it went. */
  readonly answer: (sentence: string) => void
}

export interface CallbackServer {
  /** What the authorization server is told. */
  readonly redirect: string
  readonly came: Promise<CallbackAnswer>
  close(): void
}

interface CallbackServerOptions {
  /** The address of last time; its port is taken if it is free. */
  readonly wanted: string | undefined
  /** Whether it must be that address. */
  readonly exactly: boolean
  /** Whoever does not bring it back does not come from where we sent them. */
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
      if (!isSame(url.searchParams.get('state'), state))
        return page(response, 400, 'This login was not asked for here.')
      resolve({ params: url.searchParams, answer: (sentence) => page(response, 200, sentence) })
    })
  })
  return {
    // As it was written, to the letter: that is what the authorization server compares.
    redirect: exactly && wanted !== undefined ? wanted : address.href,
    came,
    close() {
      server.close()
      server.closeIdleConnections()
      // The answer to the browser may still be on its way.
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

/** The sentences are ours: nothing that came in the address is ever shown. */
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
