/**
 * The watches of directories that the thread of an index asks for. They belong to the thread of the process that owns the
 * index: the library crashes the process when a thread ends that has a watch of its own.
 */
import type { MessagePort } from 'node:worker_threads'
import { SerialQueue } from '../../../async/serial.ts'
import { reasonOf } from '../../../errors/parley-error.ts'
import type { WatchNews, WatchRequest } from './protocol.ts'

const IGNORED = ['**/.git/**', '**/node_modules/**']

/**
 * One watch at a time begins or ends in the process: the library ends its own thread with the last watch, and one that begins
 * meanwhile would hear nothing.
 */
const queue = new SerialQueue()

/** Watches what is asked for through the port, until the other thread says that it is enough, or ends in whatever way. */
export function watchFor(thread: MessagePort): void {
  thread.on('message', ({ directory, port }: WatchRequest) => void keepWatch(directory, port))
  // The thread keeps the process running, and its port need not.
  thread.unref()
}

async function keepWatch(directory: string, port: MessagePort): Promise<void> {
  const tell = (news: WatchNews): void => port.postMessage(news)
  // After an overflow of its queue the system still reports the events that were in it, and the scan that follows sees the
  // rest.
  const heard = (error: Error | null): void =>
    tell(error === null ? { kind: 'changed' } : { kind: 'lost', reason: reasonOf(error) })
  // A thread that dies says nothing, but its ports close.
  const over = new Promise<unknown>((resolve) => port.once('message', resolve).once('close', resolve))
  try {
    const { subscribe } = await import('@parcel/watcher')
    const subscription = await queue.run(() => subscribe(directory, heard, { ignore: IGNORED }))
    tell({ kind: 'begun' })
    await over
    await queue
      .run(() => subscription.unsubscribe())
      .catch((error: unknown) => {
        // If the directory was removed, its watch may be gone already.
        tell({ kind: 'log', line: reasonOf(error) })
      })
  } catch (error) {
    tell({ kind: 'refused', reason: reasonOf(error) })
  }
  port.close()
}
