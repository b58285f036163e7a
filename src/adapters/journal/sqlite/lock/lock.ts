/** The owner's lock: the process that holds `server.lock` may append and recover. The kernel frees it however that process dies. */
import { chmodSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fail } from '../../../../errors/parley-error.ts'
import { sqliteProblem } from '../../../../sqlite/errors.ts'
import { type FileLock, tryLock } from '../../../../state-files/file-lock.ts'
import { ownerPid, pidPathIn } from './owner-pid.ts'

export interface OwnerLock {
  release(): void
}

/** Of two processes that start at the same instant one must give way; with no timeout both would. */
const LOCK_TIMEOUT_MS = 250

export function lockPathIn(directory: string): string {
  return join(directory, 'server.lock')
}

/** Takes the lock of `directory`, or throws STATE_IN_USE with the pid of the process that holds it, which may be this one. */
export function takeLock(directory: string): OwnerLock {
  const pidPath = pidPathIn(directory)
  const lock = lockIn(directory)
  if (lock === undefined) return fail('STATE_IN_USE', { path: directory, pid: ownerPid(directory) })
  writePid(pidPath)
  return {
    release() {
      // Where the directory was removed meanwhile, the file is that of another owner.
      if (ownerPid(directory) === process.pid) rmSync(pidPath, { force: true })
      lock.release()
    },
  }
}

/** The journal is not meant by what is wrong about the lock: nobody may move that away for it. */
function lockIn(directory: string): FileLock | undefined {
  const path = lockPathIn(directory)
  try {
    return tryLock(path, LOCK_TIMEOUT_MS)
  } catch (error) {
    if (sqliteProblem(error) === 'notADatabase' || isDirectory(path))
      fail('STATE_NOT_PRIVATE', { path: directory, reason: `${path} is no lock of Parley; move it away` }, error)
    throw error
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

/** Renamed into place, so that a reader sees the old pid or the new one and never half of one. */
function writePid(path: string): void {
  const draft = `${path}.new`
  writeFileSync(draft, `${process.pid}\n`, { mode: 0o600 })
  chmodSync(draft, 0o600)
  renameSync(draft, path)
}
