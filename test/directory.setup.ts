/** Gives a run of the tests one temporary directory with the programs they kill, and removes all of it, whatever failed. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildPrograms } from './fixtures/journal/programs.ts'

const NAME = /^parley-run-(\d+)$/u

/** vitest calls this before the first test file, and what it returns after the last one. */
export async function setup(): Promise<() => void> {
  for (const around of [MEMORY, tmpdir()]) clearAfterTheDead(around)
  const isChosen = process.env['TMPDIR'] !== undefined
  const directory = (isChosen ? undefined : inMemory()) ?? within(tmpdir())
  // Short: paths of sockets must fit below it. Workers and whatever they start inherit it.
  process.env['TMPDIR'] = directory
  await buildPrograms()
  return () => rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
}

/** There the thousands of journals that a run makes sync in no time; how they sync is looked at by traces of system calls. */
const MEMORY = '/dev/shm'
/** In containers there is often next to none. */
const ENOUGH_BYTES = 4 * 1024 ** 3

/** Undefined where there is not enough memory, or where programs in it may not be run. */
function inMemory(): string | undefined {
  let directory: string | undefined
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    if (bavail * bsize < ENOUGH_BYTES) return undefined
    directory = within(MEMORY)
    const program = join(directory, 'runs')
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o700 })
    execFileSync(program)
    return directory
  } catch {
    if (directory !== undefined) rmSync(directory, { recursive: true, force: true })
    return undefined
  }
}

function within(around: string): string {
  const directory = join(around, `parley-run-${process.pid}`)
  mkdirSync(directory, { recursive: true })
  return directory
}

/** A run that was killed could not remove its own. */
function clearAfterTheDead(around: string): void {
  for (const name of namesIn(around)) {
    const pid = Number(NAME.exec(name)?.[1])
    if (pid > 0 && !isAlive(pid)) rmSync(join(around, name), { recursive: true, force: true, maxRetries: 5 })
  }
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
  } catch {
    // Not every system has it.
    return []
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
