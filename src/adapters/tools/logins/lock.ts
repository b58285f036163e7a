/** Work that only one of all processes may do at a time. */
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import type { Clock } from '../../../ports/clock.ts'

const PAUSE_MS = 50
/** Nobody who lives holds it for longer: a process of the same number is another one. */
const LONGEST_MS = 60_000

/** Who works in this process, by the path of the lock. */
const here = new Map<string, Promise<unknown>>()

/** Waits for its turn, here and among processes. A holder that died is passed over. */
export async function alone<Result>(path: string, clock: Clock, work: () => Promise<Result>): Promise<Result> {
  const before = here.get(path)
  const mine = (before ?? Promise.resolve()).then(() => locked(path, clock, work))
  const settled = mine.then(
    () => undefined,
    () => undefined,
  )
  here.set(path, settled)
  try {
    return await mine
  } finally {
    if (here.get(path) === settled) here.delete(path)
  }
}

async function locked<Result>(path: string, clock: Clock, work: () => Promise<Result>): Promise<Result> {
  while (!tryLock(path, clock)) {
    passOverTheDead(path, clock)
    await clock.sleep(PAUSE_MS)
  }
  try {
    return await work()
  } finally {
    rmSync(path, { force: true })
  }
}

/** The file appears whole or not at all. */
function tryLock(path: string, clock: Clock): boolean {
  const draft = `${path}.${clock.id()}`
  writeFileSync(draft, JSON.stringify({ pid: process.pid, at: clock.now() }), { mode: 0o600 })
  try {
    linkSync(draft, path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

/** Two may find the same holder dead: the second must not take away the lock of the first. */
function passOverTheDead(path: string, clock: Clock): void {
  const found = textOf(path)
  if (found === undefined || isHeld(found, clock)) return
  const aside = `${path}.${clock.id()}`
  try {
    renameSync(path, aside)
    if (textOf(aside) !== found) linkSync(aside, path)
  } catch {
    // Somebody else was faster.
  }
  rmSync(aside, { force: true })
}

function isHeld(text: string, clock: Clock): boolean {
  const { pid, at } = JSON.parse(text) as { readonly pid: number; readonly at: number }
  if (Math.abs(clock.now() - at) > LONGEST_MS) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // It was given back meanwhile.
    return undefined
  }
}
