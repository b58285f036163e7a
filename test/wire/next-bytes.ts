/** Bytes of a socket as they come, for tests that write to one byte by byte. */
import type { Socket } from 'node:net'
import { onceSoon } from './once-soon.ts'

/** What comes next; rejects when the socket closes without a word. */
export async function nextBytes(socket: Socket): Promise<Buffer> {
  const over = new AbortController()
  const closed = onceSoon(socket, 'close', over.signal).then(() =>
    Promise.reject(new Error('it closed without a word')),
  )
  try {
    const [bytes] = (await Promise.race([onceSoon(socket, 'data', over.signal), closed])) as [Buffer]
    return bytes
  } finally {
    over.abort()
    closed.catch(() => undefined)
  }
}
