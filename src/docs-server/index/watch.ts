/** Tells when something changes under a directory, as the system sees it. */
import { realpath } from 'node:fs/promises'
import { reasonOf } from '../../errors/parley-error.ts'

export interface Watch {
  close(): Promise<void>
}

/** Null where the system cannot watch; the caller looks by itself then. `changed` is called often and without details. */
export async function watch(
  directory: string,
  changed: () => void,
  log: (line: string) => void,
): Promise<Watch | null> {
  try {
    const watcher = await import('@parcel/watcher')
    const subscription = await watcher.subscribe(await realpath(directory), changed, {
      ignore: ['**/.git/**', '**/node_modules/**'],
    })
    // A directory that is gone may have taken its watch along; either way it is over.
    return { close: () => subscription.unsubscribe().catch((error: unknown) => log(reasonOf(error))) }
  } catch (error) {
    log(`${directory} cannot be watched (${reasonOf(error)}); it is looked through every two seconds instead.`)
    return null
  }
}
