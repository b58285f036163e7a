import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { systemClock } from '../../clock.ts'
import { coalesce } from './coalesce.ts'

test('one run at a time, few of them, and the last wish is always followed by a run', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(3), { maxLength: 30 }), async (turns) => {
      const over = new AbortController()
      const counts = { running: 0, wished: 0, done: 0 }
      const work = async (): Promise<void> => {
        expect(++counts.running).toBe(1)
        const seen = counts.wished
        await new Promise((resolve) => setImmediate(resolve))
        counts.done = seen
        counts.running--
      }
      const { wish } = coalesce(work, { clock: systemClock, pauseMs: 0, signal: over.signal })
      for (const turn of turns) {
        counts.wished++
        wish()
        for (let i = 0; i < turn; i++) await new Promise((resolve) => setImmediate(resolve))
      }
      while (counts.done < counts.wished) await new Promise((resolve) => setImmediate(resolve))
      over.abort()
    }),
    { numRuns: 50 },
  )
})

test('a pause lies between two runs, and the end of the connection ends it', async () => {
  const over = new AbortController()
  let runs = 0
  const { wish } = coalesce(async () => void runs++, { clock: systemClock, pauseMs: 60_000, signal: over.signal })
  wish()
  wish()
  wish()
  await new Promise((resolve) => setImmediate(resolve))
  expect(runs).toBe(1)
  over.abort()
  await new Promise((resolve) => setImmediate(resolve))
  expect(runs).toBe(1)
})
