import { expect, test } from 'vitest'
import { RequestScheduler } from './connection.ts'

const MANY = 300

test('a client with too many open requests is read again when some of them are answered', async () => {
  const scheduler = new RequestScheduler(() => undefined)
  const ends: (() => void)[] = []
  for (let n = 0; n < MANY; n += 1)
    void scheduler.inOrder(undefined, () => new Promise((resolve) => ends.push(resolve)))
  let hasRoom = false
  const room = scheduler.untilRoom().then(() => (hasRoom = true))
  await new Promise((resolve) => setImmediate(resolve))
  expect(hasRoom).toBe(false)
  for (const end of ends.slice(0, 100)) end()
  await room
  expect(hasRoom).toBe(true)
  for (const end of ends.slice(100)) end()
  await scheduler.settled()
})
