/** Parts of one process that lock a file one after the other. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newDirectory } from '../../test/fixtures/process/new-directory.ts'
import { TestClock } from '../../test/sim/clock.ts'
import { locked, tryLock } from './file-lock.ts'

const directory = newDirectory()

function gate() {
  let open: (value: string) => void = () => undefined
  const promise = new Promise<string>((resolve) => (open = resolve))
  return { promise, resolve: (value: string) => open(value) }
}

test('a lock has one holder at a time, also within a process', () => {
  const path = join(directory, 'lock')
  const first = tryLock(path)
  expect([first === undefined, tryLock(path)]).toEqual([false, undefined])
  first?.release()
  const second = tryLock(path)
  expect(second).toBeDefined()
  second?.release()
})

test('a holder that never finishes blocks the next for a minute, and one that gives up does not break the lock', async () => {
  const path = join(directory, 'file')
  const clock = new TestClock()
  const first = gate()
  const done: string[] = []
  const begun = gate()
  const running = locked(path, clock, () => (begun.resolve('begun'), first.promise))
  await begun.promise
  const refused = locked(path, clock, async () => done.push('second')).catch((error: unknown) => error)
  await clock.advance(60_000)
  expect(await refused).toMatchObject({ code: 'FILE_BUSY' })
  const third = locked(path, clock, async () => done.push('third'))
  expect(done).toEqual([])
  first.resolve('first')
  expect(await running).toBe('first')
  await third
  expect(done).toEqual(['third'])
})
