/** Gives a run of the tests one temporary directory with the programs they kill, and removes all of it, whatever failed. */
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildPrograms } from './fixtures/journal/programs.ts'

const NAME = /^parley-run-(\d+)$/u

/** vitest calls this before the first test file, and what it returns after the last one. */
export async function setup(): Promise<() => void> {
  const around = tmpdir()
  const directory = join(around, `parley-run-${process.pid}`)
  clearAfterTheDead(around)
  mkdirSync(directory, { recursive: true })
  // Short: paths of sockets must fit below it. Workers and whatever they start inherit it.
  process.env['TMPDIR'] = directory
  await buildPrograms()
  return () => rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
}

/** A run that was killed could not remove its own. */
function clearAfterTheDead(around: string): void {
  for (const name of readdirSync(around)) {
    const pid = Number(NAME.exec(name)?.[1])
    if (pid > 0 && !isAlive(pid)) rmSync(join(around, name), { recursive: true, force: true, maxRetries: 5 })
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // It may belong to somebody else.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
