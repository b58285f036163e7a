/** Bytes of a socket as they come, for tests that write to one byte by byte. */
import { once } from 'node:events'
import type { Socket } from 'node:net'

/** What comes next; rejects when the socket closes without a word. */
export async function nextBytes(socket: Socket): Promise<Buffer> {
  const over = new AbortController()
  const closed = once(socket, 'close', over).then(() => Promise.reject(new Error('it closed without a word')))
  try {
    const [bytes] = (await Promise.race([once(socket, 'data', over), closed])) as [Buffer]
    return bytes
  } finally {
    over.abort()
    closed.catch(() => undefined)
  }
}
