/** The server's own socket: every connection to it is a wire, and none that breaks harms another. */
import { chmodSync, lstatSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { type Server, createServer } from 'node:net'
import { dirname } from 'node:path'
import { fail, reasonOf } from '../../errors/parley-error.ts'
import { SharedLimits, openStreamTransport } from './streams.ts'
import type { Transport } from './transport.ts'

export interface SocketHost {
  /** One more client. */
  connected(wire: Transport): void
  /** A client could not be let in, for want of descriptors for example; the others stay. */
  report(error: unknown): void
}

export interface ListeningSocket {
  /** False once its file was removed or replaced: nobody can come in any more. */
  isThere(): boolean
  /** Lets nobody else in, and removes the file. Who is in stays. Idempotent. */
  close(): void
}

/**
 * Only whoever holds the owner's lock may call this: what is found at `path` was left by a dead owner and is removed.
 * Throws SOCKET_UNUSABLE.
 */
export async function listenOn(path: string, host: SocketHost): Promise<ListeningSocket> {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    const limits = new SharedLimits()
    // A client may close its side and still read what it is owed.
    const server = createServer({ allowHalfOpen: true }, (socket) =>
      host.connected(openStreamTransport(socket, socket, limits)),
    )
    await listening(server, `${path}~`)
    server.on('error', (error) => host.report(error))
    putInPlace(server, path)
    const made = identityOf(path)
    const isThere = (): boolean => made !== undefined && identityOf(path) === made
    return {
      isThere,
      close() {
        if (isThere()) rmSync(path, { force: true })
        server.close()
      },
    }
  } catch (error) {
    return fail('SOCKET_UNUSABLE', { path, reason: reasonOf(error) }, error)
  }
}

/**
 * Made under another name, because whoever made a socket removes what has its name when it ends, even if by then that is
 * the socket of a successor.
 */
function putInPlace(server: Server, path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found?.isSocket() !== false) return renameSync(`${path}~`, path)
  server.close()
  throw new Error('something that is no socket is in its place; move it away')
}

/** Nobody but the user may connect, not even between the socket's making and its mode: Node makes it before `listen` returns. */
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
    // A system that does not heed the mask is told again.
    if (server.listening) chmodSync(path, 0o600)
  })
}

function identityOf(path: string): string | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false })
  return found === undefined ? undefined : `${found.dev}:${found.ino}:${found.birthtimeMs}`
}
