/** Reports changes under a directory, as the operating system sees them. It is watched for this thread by the index's owner. */
import { realpath, statfs } from 'node:fs/promises'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { reasonOf } from '../../../errors/parley-error.ts'
import type { WatchNews, WatchRequest } from '../worker/protocol.ts'

export interface DirectoryWatch {
  /** Whether the system reports every change. On a network file system it does not, because another machine may make them. */
  readonly isComplete: boolean
  close(): Promise<void>
}

export interface WatchEvents {
  /** Called often and without details. */
  readonly changed: () => void
  /** The watch is over, and may have missed something. */
  readonly lost: (reason: string) => void
  readonly log: (line: string) => void
}

/** Null where the system cannot watch; the caller scans instead. */
export type Watch = (directory: string, events: WatchEvents) => Promise<DirectoryWatch | null>

/** Directories are watched at the other end of this port, by `directory-watches.ts`. */
export function watchThrough(owner: MessagePort): Watch {
  return async (directory, events) => {
    try {
      const path = await realpath(directory)
      const isComplete = await isLocal(path)
      return { isComplete, close: await begin(owner, path, events) }
    } catch (error) {
      events.log(`${directory} cannot be watched (${reasonOf(error)}); it is looked through every two seconds instead.`)
      return null
    }
  }
}

/** Resolves once the directory is watched, with what ends that. */
async function begin(
  owner: MessagePort,
  directory: string,
  { changed, lost, log }: WatchEvents,
): Promise<DirectoryWatch['close']> {
  const { port1: port, port2 } = new MessageChannel()
  const ended = new Promise<void>((resolve) => port.once('close', resolve))
  await new Promise<void>((resolve, reject) => {
    port.on('message', (news: WatchNews) => {
      switch (news.kind) {
        case 'begun':
          return resolve()
        case 'refused':
          return reject(new Error(news.reason))
        case 'changed':
          return changed()
        case 'lost':
          return lost(news.reason)
        case 'log':
          return log(news.line)
      }
    })
    owner.postMessage({ directory, port: port2 } satisfies WatchRequest, [port2])
  })
  return () => {
    port.postMessage('end')
    return ended
  }
}

/** Types of file systems, as `statfs` numbers them, that other machines or programs change without the kernel's knowing. */
const REMOTE = new Set([
  0x6969, // NFS
  0x517b, // SMB
  0xff534d42, // CIFS
  0xfe534d42, // SMB 2
  0x65735546, // FUSE, such as sshfs
  0x01021997, // 9P, such as the drives of Windows in WSL
  0x5346414f, // AFS
  0x00c36400, // Ceph
  0x786f4256, // shared folders of VirtualBox
])

async function isLocal(path: string): Promise<boolean> {
  const { type } = await statfs(path)
  return !REMOTE.has(type >>> 0)
}
