/** Who holds the state directory, as its note beside the lock says: read from outside, without touching the lock. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Holder {
  readonly pid: number
  /** A server listens, or is about to, or is stopping; any other owner serves only whoever started it. */
  readonly isServer: boolean
}

/** Undefined when nobody living has said so. */
export function holderOf(home: string): Holder | undefined {
  const [, pid, role] = /^(\d+)(?: (\w+))?\n/u.exec(noteIn(home)) ?? []
  const holder = { pid: Number(pid), isServer: role === 'server' }
  return pid !== undefined && isAlive(holder.pid) ? holder : undefined
}

function noteIn(home: string): string {
  try {
    return readFileSync(join(home, 'server.pid'), 'utf8')
  } catch {
    // Nobody holds it, or whoever does has not said so yet.
    return ''
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
