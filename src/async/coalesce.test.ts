import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { TestClock } from '../../test/sim/clock.ts'
import { systemClock } from '../adapters/clock.ts'
import { coalesce } from './coalesce.ts'

test('requests are merged into few runs, one at a time, and the last request is followed by a run', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(3), { maxLength: 30 }), async (turns) => {
      const over = new AbortController()
      const counts = { running: 0, requested: 0, done: 0 }
      const work = async (): Promise<boolean> => {
        expect(++counts.running).toBe(1)
        const seen = counts.requested
        await new Promise((resolve) => setImmediate(resolve))
        counts.done = seen
        counts.running--
        return true
      }
      const request = coalesce(work, { clock: systemClock, pauseMs: 0, idlePauseMs: 0, signal: over.signal })
      for (const turn of turns) {
        counts.requested++
        request()
        for (let i = 0; i < turn; i++) await new Promise((resolve) => setImmediate(resolve))
      }
      while (counts.done < counts.requested) await new Promise((resolve) => setImmediate(resolve))
      over.abort()
    }),
    { numRuns: 50 },
  )
})

test('a pause lies between two runs, and the signal ends it', async () => {
  const over = new AbortController()
  let runs = 0
  const count = async (): Promise<boolean> => runs++ > 0
  const request = coalesce(count, { clock: systemClock, pauseMs: 60_000, idlePauseMs: 60_000, signal: over.signal })
  request()
  request()
  request()
  await new Promise((resolve) => setImmediate(resolve))
  expect(runs).toBe(1)
  over.abort()
  await new Promise((resolve) => setImmediate(resolve))
  expect(runs).toBe(1)
})

test('pauses grow while runs find nothing to do, and are short again after one that does', async () => {
  const over = new AbortController()
  const pauses: number[] = []
  const clock = new TestClock()
  clock.sleep = async (ms) => void pauses.push(ms)
  let runs = 0
  const done = new Promise<void>((resolve) => {
    const work = async (): Promise<boolean> => {
      runs++
      if (runs < 8) request()
      else resolve()
      return runs === 6
    }
    const request = coalesce(work, { clock, pauseMs: 100, idlePauseMs: 800, signal: over.signal })
    request()
  })
  await done
  expect(pauses.slice(0, 7)).toEqual([100, 200, 400, 800, 800, 100, 200])
})
