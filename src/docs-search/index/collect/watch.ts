/** Reports changes under a directory, as the operating system sees them. */
import { realpath, statfs } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { reasonOf } from '../../../errors/parley-error.ts'

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

/**
 * Loads the library of the watches into the calling thread, which must outlive those that watch: when the last thread that
 * has loaded it ends, no other can load it again, and of two threads that load it first at the same time one fails.
 */
export function loadWatcher(): void {
  try {
    createRequire(import.meta.url)('@parcel/watcher')
  } catch {
    // `watch` says why, of each directory.
  }
}

/** Null where the system cannot watch; the caller scans instead. */
export async function watch(directory: string, { changed, lost, log }: WatchEvents): Promise<DirectoryWatch | null> {
  try {
    const watcher = await import('@parcel/watcher')
    const path = await realpath(directory)
    const isComplete = await isLocal(path)
    // After an overflow of its queue the system still reports the events that were in it, and the scan that follows sees
    // the rest.
    const heard = (error: Error | null) => (error === null ? changed() : lost(reasonOf(error)))
    const subscription = await watcher.subscribe(path, heard, { ignore: ['**/.git/**', '**/node_modules/**'] })
    return {
      isComplete,
      // If the directory was removed, its watch may be gone already.
      close: () => subscription.unsubscribe().catch((error: unknown) => log(reasonOf(error))),
    }
  } catch (error) {
    log(`${directory} cannot be watched (${reasonOf(error)}); it is looked through every two seconds instead.`)
    return null
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
