/**
 * `npm run conformance -- agents [NAME…]`: real agents behind Parley, against a scripted model, without a network; prints a
 * table. They are those that `PARLEY_HOME=/tmp/parley-real-agents/state parley agents add NAME` has installed. What their model
 * was asked, and every line between Parley and them, is left beside it. Linux only: everything runs in a network namespace that has nothing but loopback.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Cases } from './cases.ts'
import { DIRECTORY, isInside } from './namespace.ts'
import { type Setup, setups } from './setups.ts'
import { type Seen, tableOf, seenOf } from './table.ts'
import { World } from './world.ts'

/** For one case: real agents hang, and the others want their turn. */
const LIMIT_MS = 180_000

async function main(): Promise<void> {
  if (!(await isInside(import.meta.filename))) return
  const wanted = process.argv.slice(2)
  const seen: Seen[] = []
  for (const setup of setups.filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
    await play(setup, (one) => {
      seen.push(one)
      const words = one.words.replaceAll(/\s+/gu, ' ')
      process.stdout.write(`${setup.name} ${setup.version} · ${one.name}: ${one.verdict}, ${words}\n`)
    })
  }
  process.stdout.write(`\n${tableOf(seen)}\n`)
  process.exitCode = seen.some(({ verdict }) => verdict === 'NO') ? 1 : 0
}

async function play(setup: Setup, onSeen: (seen: Seen) => void): Promise<void> {
  const world = await World.open(setup, DIRECTORY)
  const tried = async <T>(name: string, attempt: () => Promise<T>, word: (value: T) => string) => {
    try {
      const value = await inTime(attempt())
      onSeen(seenOf(setup, name, { isGood: true, words: word(value) }))
      return value
    } catch (error) {
      const words = error instanceof Error ? error.message : String(error)
      onSeen(seenOf(setup, name, { isGood: false, words }))
      return undefined
    }
  }
  try {
    const cases = await tried(
      'session/new',
      () => Cases.open(world),
      () => 'opened',
    )
    for (const [name, attempt] of Object.entries(cases?.all ?? {})) await tried(name, attempt, (words) => words)
  } finally {
    writeFileSync(join(DIRECTORY, `${setup.name}-requests.json`), JSON.stringify(world.model.requests, undefined, 1))
    await world.close()
  }
}

async function inTime<T>(attempt: Promise<T>): Promise<T> {
  const over = new AbortController()
  const limit = sleep(LIMIT_MS, undefined, { signal: over.signal }).then(() => {
    throw new Error(`nothing after ${LIMIT_MS / 1000} s`)
  })
  // The one that loses the race must not end the process.
  for (const one of [attempt, limit]) one.catch(() => undefined)
  try {
    return await Promise.race([attempt, limit])
  } finally {
    over.abort()
  }
}

await main()
