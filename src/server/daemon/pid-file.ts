/** The process that owns the state directory, read from the pid file beside the lock, without touching the lock. */
import { readFileSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface ServerProcess {
  readonly pid: number
  /** A server listens, or is about to, or is stopping; any other owner serves one client in its own process. */
  readonly isServer: boolean
  /** It is a node of a cluster. */
  readonly isNode: boolean
}

/** The owner of the lock notes in the pid file that it is a server. Releasing the lock removes the file. */
export function noteServer(home: string, isNode: boolean): void {
  const draft = join(home, 'server.pid.server')
  writeFileSync(draft, `${process.pid} server\n${isNode ? 'node\n' : ''}`, { mode: 0o600 })
  renameSync(draft, join(home, 'server.pid'))
}

/** Undefined when the noted process does not live or does not own the lock: the file was copied or left behind. */
export function readPidFile(home: string): ServerProcess | undefined {
  const [, pid, role, kind] = /^(\d+)(?: (\w+))?\n(?:(\w+)\n)?/u.exec(noteIn(home)) ?? []
  const holder = { pid: Number(pid), isServer: role === 'server', isNode: kind === 'node' }
  return pid !== undefined && isAlive(holder.pid) && mayHold(holder.pid, home) ? holder : undefined
}

function noteIn(home: string): string {
  try {
    return readFileSync(join(home, 'server.pid'), 'utf8')
  } catch {
    // No process owns the lock, or its owner has not written the file yet.
    return ''
  }
}

/** False only where it can be seen that the process does not have the lock's file open. */
function mayHold(pid: number, home: string): boolean {
  try {
    const lock = statSync(join(home, 'server.lock'), { bigint: true })
    const descriptors = `/proc/${pid}/fd`
    return readdirSync(descriptors).some((name) => {
      const open = statSync(join(descriptors, name), { bigint: true, throwIfNoEntry: false })
      return open?.ino === lock.ino && open.dev === lock.dev
    })
  } catch {
    // No /proc, or a process of another user: trust the file.
    return true
  }
}

/** A process that ended stays in the table until its parent collects it; in a container that may never happen. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !isZombie(pid)
  } catch (error) {
    // A process of another user lives, though it may not be signalled.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Ended with all of its threads: the main one may end first, while another still has files open. */
function isZombie(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = stat.slice(stat.lastIndexOf(') ') + 2).split(' ')
    return 'ZX'.includes(fields[0] ?? '?') && Number(fields[17]) <= 1
  } catch {
    // There is no /proc, or the process has just ended: the result of the signal counts.
    return false
  }
}
