import { expect, test } from 'vitest'
import { RequestScheduler } from './request-scheduler.ts'

const MANY = 300

test('a client that asked a lot is read on when some of it is done', async () => {
  const work = new RequestScheduler(() => undefined)
  const ends: (() => void)[] = []
  for (let n = 0; n < MANY; n += 1) void work.inOrder(undefined, () => new Promise((resolve) => ends.push(resolve)))
  let hasRoom = false
  const room = work.room().then(() => (hasRoom = true))
  await new Promise((resolve) => setImmediate(resolve))
  expect(hasRoom).toBe(false)
  for (const end of ends.slice(0, 100)) end()
  await room
  expect(hasRoom).toBe(true)
  for (const end of ends.slice(100)) end()
  await work.settled()
})
