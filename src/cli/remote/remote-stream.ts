/** A connection to a remote server, as lines in both directions: over WebSocket, or through `ssh`. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import { ParleyError, reasonOf } from '../../errors/parley-error.ts'
import { WebSocketStream } from '../../relay/websocket-stream.ts'
import { complain } from '../say.ts'
import { type KnownServer, isSsh } from './known-servers.ts'

const HANDSHAKE_MS = 10_000
/** Below the idle limits of usual proxies; the server gives up who is silent for 45 s, and so do we. */
const PING_MS = 20_000

/** Throws SERVER_REFUSED where another try is of no use, and SERVER_LOST where it may be. */
export async function openRemote(server: KnownServer): Promise<Duplex> {
  return isSsh(server.url) ? overSsh(server.url) : new WebSocketStream(await openSocket(server), PING_MS)
}

async function overSsh(url: string): Promise<Duplex> {
  const { username, hostname, port } = new URL(url)
  const host = username === '' ? hostname : `${username}@${hostname}`
  const options = port === '' ? [] : ['-p', port]
  const child = spawn('ssh', [...options, '--', host, 'parley', 'acp'], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.on('error', () => undefined)
  child.once('exit', (code) => {
    if (code !== 0 && code !== null && child.stdout instanceof Socket && child.stdout.bytesRead === 0)
      complain(`ssh ended with ${code} before Parley answered. Try it by itself: ssh ${host} parley --version`)
  })
  await once(child, 'spawn').catch((error: unknown) => {
    throw new ParleyError(
      'SERVER_REFUSED',
      { server: host, reason: `ssh cannot be started (${reasonOf(error)})` },
      error,
    )
  })
  return Duplex.from({ readable: child.stdout, writable: child.stdin })
}

async function openSocket({ name, url, token = '', ca, headers }: KnownServer): Promise<WebSocket> {
  const { WebSocket: Socket } = await import('ws')
  const socket = new Socket(new URL('acp', url.replace(/^http/u, 'ws')), ['parley.lines.v1', 'acp.v1'], {
    headers: { ...headers, authorization: `Bearer ${token}` },
    handshakeTimeout: HANDSHAKE_MS,
    perMessageDeflate: false,
    ...(ca !== undefined && { ca: readFileSync(ca) }),
  })
  return new Promise((resolve, reject) => {
    socket.once('open', () => resolve(socket))
    socket.once('error', (error) => reject(unreachable(name, error)))
    socket.once('unexpected-response', (_request, response) => {
      const { statusCode = 0 } = response
      response.setEncoding('utf8')
      let said = ''
      response.on('data', (text: string) => (said = `${said}${text}`.slice(0, 400)))
      // Why it is not valid, as after 90 days, the server does not say to everyone.
      const next = statusCode === 401 ? ' Log in again: parley login URL' : ''
      response.once('end', () => reject(refused(name, statusCode, `${said.trim()}${next}`)))
      response.once('error', (error) => reject(unreachable(name, error)))
    })
  })
}

/** Errors of a proxy whose server is away are temporary, so they are tried again. */
function refused(server: string, status: number, said: string): ParleyError {
  const reason = `${status}${said.trim() === '' ? '' : `: ${said.trim().replaceAll(/\s+/gu, ' ')}`}`
  const isForGood = status >= 400 && status < 500 && status !== 408 && status !== 429
  return isForGood
    ? new ParleyError('SERVER_REFUSED', { server, reason })
    : new ParleyError('SERVER_LOST', { reason: `${server} answers ${reason}` })
}

const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ALTNAME|TLS/u

function unreachable(server: string, error: Error): ParleyError {
  const { code = '' } = error as NodeJS.ErrnoException
  if (CERTIFICATE.test(code))
    return new ParleyError(
      'SERVER_REFUSED',
      { server, reason: `its certificate is not trusted (${reasonOf(error)})` },
      error,
    )
  if (code === 'EPROTO')
    return new ParleyError(
      'SERVER_REFUSED',
      { server, reason: 'no TLS is spoken there; try http:// for https://' },
      error,
    )
  return new ParleyError('SERVER_LOST', { reason: `${server}: ${reasonOf(error)}` }, error)
}

/** Uses the code of a pairing link up. Throws SERVER_REFUSED and SERVER_LOST, as `openRemote` does. */
export async function pairWith(server: KnownServer, code: string, name: string): Promise<{ readonly token: string }> {
  const { ca, headers, url } = server
  const { request } = url.startsWith('https:') ? await import('node:https') : await import('node:http')
  const asking = request(new URL('pair', url), {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    timeout: HANDSHAKE_MS,
    ...(ca !== undefined && { ca: readFileSync(ca) }),
  })
  asking.once('timeout', () => asking.destroy(new Error('it does not answer')))
  asking.end(JSON.stringify({ code, name }))
  const [response] = (await once(asking, 'response').catch((error: unknown) => {
    throw unreachable(server.name, error as Error)
  })) as [IncomingMessage]
  let text = ''
  for await (const piece of response.setEncoding('utf8')) text += String(piece)
  const { statusCode = 0 } = response
  if (statusCode !== 200) throw refused(server.name, statusCode, text.slice(0, 400))
  return JSON.parse(text) as { readonly token: string }
}
