/**
 * The server's named pipe on Windows. It is no file: it has no mode, and it goes with the process that made it. Windows lets the
 * user who made it, administrators and the system write to it; others may open it and read, and are sent nothing.
 */
import { fail, reasonOf } from '../../errors/parley-error.ts'
import { type ListeningSocket, type SocketListener, serverFor } from './unix-socket.ts'

/** Throws SOCKET_UNUSABLE, also where another process has a pipe of this name. */
export async function listenOnPipe(path: string, listener: SocketListener): Promise<ListeningSocket> {
  const server = serverFor(listener)
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(path, () => {
        server.off('error', reject)
        resolve()
      })
    })
  } catch (error) {
    return fail('SOCKET_UNUSABLE', { path, reason: reasonOf(error) }, error)
  }
  server.on('error', (error) => listener.report(error))
  return {
    isReachable: () => server.listening,
    close: () => void server.close(),
  }
}
