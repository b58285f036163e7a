/** The server's Unix socket: one transport per connection, and a connection that breaks harms no other. */
import { chmodSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { type Server, createServer } from 'node:net'
import { dirname } from 'node:path'
import { fail, reasonOf } from '../../errors/parley-error.ts'
import { SharedLimits, openStreamTransport } from './streams.ts'
import type { Transport } from './transport.ts'

export interface SocketListener {
  /** A client has connected. */
  connected(transport: Transport): void
  /** A client could not be accepted; the others stay. */
  report(error: unknown): void
}

export interface ListeningSocket {
  /** False once its file was removed or replaced: no client can connect any more. */
  isReachable(): boolean
  /** Accepts no more clients and removes the file. Connected clients stay. Idempotent. */
  close(): void
}

/** File descriptors that clients never take: the server loads modules, opens files and starts programs with them. */
const RESERVED_DESCRIPTORS = 64

/**
 * Only the holder of the owner's lock may call this: a socket at `path` was left by a dead owner and is replaced. Where systemd
 * has made the socket, `passed` is its descriptor, and the file is not ours to replace or remove. Throws SOCKET_UNUSABLE.
 */
export async function listenOn(path: string, listener: SocketListener, passed?: number): Promise<ListeningSocket> {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    const server = serverFor(listener)
    if (passed === undefined) await listening(server, `${path}~`)
    else await listeningOnPassed(server, passed)
    server.on('error', (error) => listener.report(error))
    if (passed === undefined) putInPlace(server, path)
    const created = identityOf(path)
    const isReachable = (): boolean => created !== undefined && identityOf(path) === created
    return {
      isReachable,
      close() {
        if (passed === undefined && isReachable()) rmSync(path, { force: true })
        server.close()
      },
    }
  } catch (error) {
    return fail('SOCKET_UNUSABLE', { path, reason: reasonOf(error) }, error)
  }
}

/** Not listening yet. */
export function serverFor(listener: SocketListener): Server {
  const limits = new SharedLimits()
  // A client may close its side and still read.
  const server = createServer({ allowHalfOpen: true }, (socket) =>
    listener.connected(openStreamTransport(socket, socket, limits)),
  )
  turnAwayTooMany(server, listener)
  return server
}

/** Without descriptors a module that is loaded with its first use cannot be loaded, and never again in this process. */
function turnAwayTooMany(server: Server, listener: SocketListener): void {
  const limit = descriptorLimit()
  if (limit === undefined) return
  server.maxConnections = Math.max(limit - RESERVED_DESCRIPTORS, Math.floor(limit / 2))
  let isReported = false
  server.on('connection', () => (isReported = false))
  server.on('drop', () => {
    if (!isReported) listener.report(new Error(`clients are turned away: ${server.maxConnections} are connected`))
    isReported = true
  })
}

/** How many descriptors this process may have, where the system says so in a file. */
function descriptorLimit(): number | undefined {
  try {
    const [, limit] = /^Max open files\s+(\d+)/mu.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return limit === undefined ? undefined : Number(limit)
  } catch {
    return undefined
  }
}

/** The socket is created under another name: the process that creates a socket removes what has its name when it ends, even the socket of a successor. */
function putInPlace(server: Server, path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found?.isSocket() !== false) return renameSync(`${path}~`, path)
  server.close()
  throw new Error('a file that is not a socket is in its place; move it away')
}

/** Only the user may connect, from the first moment on: Node creates the socket before `listen` returns, so its mode is set by the mask. */
function listening(server: Server, path: string): Promise<void> {
  rmSync(path, { force: true })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    const mask = process.umask(0o177)
    try {
      server.listen(path, () => {
        server.off('error', reject)
        resolve()
      })
    } finally {
      process.umask(mask)
    }
    // Some systems ignore the mask for sockets.
    if (server.listening) chmodSync(path, 0o600)
  })
}

/** Clients that have connected while no server ran are served now. */
function listeningOnPassed(server: Server, fd: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ fd }, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

function identityOf(path: string): string | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false })
  return found === undefined ? undefined : `${found.dev}:${found.ino}:${found.birthtimeMs}`
}
