/** A lock between processes. The kernel frees it however its holder dies; nothing else takes it away, however long the holder takes. */
import { dirname } from 'node:path'
import { mkdirSync } from 'node:fs'
import { DatabaseSync } from '@photostructure/sqlite'
import { waitAtMost } from '../async/with-timeout.ts'
import { fail } from '../errors/parley-error.ts'
import type { Clock } from '../ports/clock.ts'
import { createPrivate } from './atomic-file.ts'

export interface FileLock {
  /** Call it once. The file of the lock stays: removing it would let two processes lock two different files. */
  release(): void
}

/** How long a process waits for another one that has the lock. */
const PATIENCE_MS = 60_000
const PAUSE_MS = 50

/**
 * Undefined when another process, or another part of this one, has the lock and keeps it for `patienceMs`, for which this thread stands
 * still. SQLite keeps the connections of one process apart, which the kernel's locks do not. Nothing but SQLite may ever open the file:
 * closing any other descriptor of it would give up the lock of this process.
 */
export function tryLock(path: string, patienceMs = 0): FileLock | undefined {
  createPrivate(path)
  const db = new DatabaseSync(path, { timeout: patienceMs })
  try {
    // No journal beside the lock: nothing is ever written.
    db.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
  } catch (error) {
    db.close()
    if (isBusy(error)) return undefined
    throw error
  }
  return { release: () => db.close() }
}

/** For commands that have nothing else to do meanwhile. Throws FILE_BUSY. */
export function lockedNow<Result>(path: string, work: () => Result, patienceMs = PATIENCE_MS): Result {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const lock = tryLock(`${path}.lock`, patienceMs) ?? busy(path)
  try {
    return work()
  } finally {
    lock.release()
  }
}

/** The last work of this process for each file, so that its own parts take turns without asking again and again. */
const queues = new Map<string, Promise<unknown>>()

/** Runs `work` while no other process, and no other part of this one, works on the file `path`. Throws FILE_BUSY. */
export async function locked<Result>(path: string, clock: Clock, work: () => Promise<Result>): Promise<Result> {
  const giveUpAt = clock.monotonicNow() + PATIENCE_MS
  const before = queues.get(path) ?? Promise.resolve()
  const mine = waitAtMost(
    before.then(() => 'my turn' as const),
    { clock, ms: PATIENCE_MS },
  ).then((turn) => (turn === 'my turn' ? lockAndRun(path, { clock, giveUpAt }, work) : busy(path)))
  // Who gives up lets no later one pass what still runs.
  const settled = Promise.allSettled([before, mine])
  queues.set(path, settled)
  try {
    return await mine
  } finally {
    if (queues.get(path) === settled) queues.delete(path)
  }
}

interface Waiting {
  readonly clock: Clock
  readonly giveUpAt: number
}

async function lockAndRun<Result>(path: string, waiting: Waiting, work: () => Promise<Result>): Promise<Result> {
  const lock = await taken(path, waiting)
  try {
    return await work()
  } finally {
    lock.release()
  }
}

async function taken(path: string, { clock, giveUpAt }: Waiting): Promise<FileLock> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  for (;;) {
    const lock = tryLock(`${path}.lock`)
    if (lock !== undefined) return lock
    if (clock.monotonicNow() >= giveUpAt) return busy(path)
    await clock.sleep(PAUSE_MS)
  }
}

function busy(path: string): never {
  return fail('FILE_BUSY', { path, seconds: PATIENCE_MS / 1000 })
}

/** SQLite's result code; the library gives only its words with an error that a read meets. */
function isBusy(error: unknown): boolean {
  const { errcode, message } = (error ?? {}) as { readonly errcode?: unknown; readonly message?: unknown }
  return typeof errcode === 'number' ? (errcode & 0xff) === 5 : message === 'database is locked'
}
