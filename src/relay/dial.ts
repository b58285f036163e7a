/** A connection to the server's socket, as fast as one can be had. */
import { type Socket, connect } from 'node:net'

/** Rejects with the system's own error when nobody listens. */
export function dial(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(path)
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.off('error', reject)
      // Whoever reads it sees it end; whoever writes to it meanwhile is told by that reader.
      socket.on('error', () => undefined)
      resolve(socket)
    })
  })
}
