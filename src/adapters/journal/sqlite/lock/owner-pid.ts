/** Reads the pid of the owner from the note beside the lock, without touching the lock or SQLite. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export function pidPathIn(directory: string): string {
  return join(directory, 'server.pid')
}

/** Null when it is unknown, or was left by a process that is gone. */
export function ownerPid(directory: string): number | null {
  try {
    const pid = Number.parseInt(readFileSync(pidPathIn(directory), 'utf8'), 10)
    return Number.isInteger(pid) && isAlive(pid) ? pid : null
  } catch {
    // The holder has not written it yet, or is just leaving: unknown either way.
    return null
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // A process of another user lives, though it may not be signalled.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
