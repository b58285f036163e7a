/** The owner's lock: whoever holds `server.lock` may append and recover; the kernel frees it however its holder dies. */
import { chmodSync, closeSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { fail } from '../../../errors/parley-error.ts'
import { ownerPid, pidPathIn } from './owner-pid.ts'
import { isBusy, systemCode } from './refusals.ts'

export interface OwnerLock {
  release(): void
}

/** Of two that come at the same instant one must step back; without some patience both would. */
const patienceMs = 250

export function lockPathIn(directory: string): string {
  return join(directory, 'server.lock')
}

/**
 * Takes the lock of `directory`, or throws STATE_IN_USE with the pid of whoever holds it, this process included.
 * SQLite itself keeps the connections of one process apart, which the kernel's locks do not.
 */
export function takeLock(directory: string): OwnerLock {
  const path = lockPathIn(directory)
  const pidPath = pidPathIn(directory)
  createPrivate(path)
  const db = new DatabaseSync(path, { timeout: patienceMs })
  try {
    // No journal beside the lock: nothing is ever written.
    db.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
  } catch (error) {
    db.close()
    if (isBusy(error)) fail('STATE_IN_USE', { path: directory, pid: ownerPid(directory) }, error)
    throw error
  }
  writePid(pidPath)
  return {
    release() {
      // Where the directory was removed meanwhile, the note is that of a successor.
      if (ownerPid(directory) === process.pid) rmSync(pidPath, { force: true })
      db.close()
    },
  }
}

/**
 * Makes the file if there is none. It is never opened otherwise except by SQLite: closing any other
 * descriptor of it would give up this process's lock.
 */
export function createPrivate(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error
  }
}

/** Renamed into place, so that a reader sees the old pid or the new one and never half of one. */
function writePid(path: string): void {
  const draft = `${path}.new`
  writeFileSync(draft, `${process.pid}\n`, { mode: 0o600 })
  chmodSync(draft, 0o600)
  renameSync(draft, path)
}
