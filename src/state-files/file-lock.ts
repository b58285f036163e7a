/** A lock between processes. The kernel frees it however the process that holds it dies; nothing else takes it away. */
import { dirname } from 'node:path'
import { mkdirSync } from 'node:fs'
import { waitAtMost } from '../async/with-timeout.ts'
import { fail } from '../errors/parley-error.ts'
import type { Clock } from '../ports/clock.ts'
import { openDatabase } from '../sqlite/database.ts'
import { sqliteProblem } from '../sqlite/errors.ts'
import { createPrivate } from './atomic-file.ts'

export interface FileLock {
  /** Call it once. The lock's file stays: removing it would let two processes lock two different files. */
  release(): void
}

/** How long a process waits for another one that holds the lock. */
const LOCK_TIMEOUT_MS = 60_000
const RETRY_MS = 50

/**
 * Undefined when another process, or another part of this one, keeps the lock for `timeoutMs`; this thread blocks meanwhile. SQLite keeps
 * the connections of one process apart, which the kernel's locks do not. Only SQLite may open the file: closing any other descriptor of
 * it would release the lock of this process.
 */
export function tryLock(path: string, timeoutMs = 0): FileLock | undefined {
  createPrivate(path)
  const db = openDatabase(path, { timeoutMs })
  try {
    // No journal beside the lock: nothing is ever written.
    db.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
  } catch (error) {
    db.close()
    if (sqliteProblem(error) === 'busy') return undefined
    throw error
  }
  return { release: () => db.close() }
}

/** Runs `work` under the lock of the file `path`; this thread blocks while it waits. For commands. Throws FILE_BUSY. */
export function lockedNow<Result>(path: string, work: () => Result, timeoutMs = LOCK_TIMEOUT_MS): Result {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const lock = tryLock(`${path}.lock`, timeoutMs) ?? busy(path)
  try {
    return work()
  } finally {
    lock.release()
  }
}

/** The last work of this process for each file, so that its own parts queue instead of polling the lock. */
const queues = new Map<string, Promise<unknown>>()

/** Runs `work` while no other process, and no other part of this one, works on the file `path`. Throws FILE_BUSY. */
export async function locked<Result>(path: string, clock: Clock, work: () => Promise<Result>): Promise<Result> {
  const giveUpAt = clock.monotonicNow() + LOCK_TIMEOUT_MS
  const before = queues.get(path) ?? Promise.resolve()
  const mine = waitAtMost(
    before.then(() => 'my turn' as const),
    { clock, ms: LOCK_TIMEOUT_MS },
  ).then((turn) => (turn === 'my turn' ? lockAndRun(path, { clock, giveUpAt }, work) : busy(path)))
  // A caller that gives up must not let a later one start while earlier work still runs.
  const settled = Promise.allSettled([before, mine])
  queues.set(path, settled)
  try {
    return await mine
  } finally {
    if (queues.get(path) === settled) queues.delete(path)
  }
}

interface LockWait {
  readonly clock: Clock
  readonly giveUpAt: number
}

async function lockAndRun<Result>(path: string, waiting: LockWait, work: () => Promise<Result>): Promise<Result> {
  const lock = await taken(path, waiting)
  try {
    return await work()
  } finally {
    lock.release()
  }
}

async function taken(path: string, { clock, giveUpAt }: LockWait): Promise<FileLock> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  for (;;) {
    const lock = tryLock(`${path}.lock`)
    if (lock !== undefined) return lock
    if (clock.monotonicNow() >= giveUpAt) return busy(path)
    await clock.sleep(RETRY_MS)
  }
}

function busy(path: string): never {
  return fail('FILE_BUSY', { path, seconds: LOCK_TIMEOUT_MS / 1000 })
}
