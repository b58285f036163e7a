/** Makes sure that of many processes that need a server, one starts it: a file in the state directory names that process. */
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isAlive } from '../daemon/pid-file.ts'

export interface StartLock {
  over(): void
}

/**
 * Undefined while another process has it. A process that is killed loses it. That two have it at once does no harm: of
 * two servers only one gets the state.
 */
export function takeStartLock(home: string): StartLock | undefined {
  const path = join(home, 'server.starting')
  try {
    if (!take(path)) {
      if (isTaken(path)) return undefined
      rmSync(path, { force: true })
      if (!take(path)) return undefined
    }
    return { over: () => rmSync(path, { force: true }) }
  } catch {
    // Without a writable directory there is no lock; the start itself reports what is wrong.
    return { over: () => undefined }
  }
}

/** It has its content from its first moment on. */
function take(path: string): boolean {
  const draft = `${path}.${process.pid}`
  try {
    writeFileSync(draft, String(process.pid), { mode: 0o600 })
    linkSync(draft, path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

/** By another process that is alive. */
function isTaken(path: string): boolean {
  try {
    const pid = Number.parseInt(readFileSync(path, 'utf8'), 10)
    return pid !== process.pid && isAlive(pid)
  } catch {
    // It is just over.
    return false
  }
}
