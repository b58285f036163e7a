import { expect, test } from 'vitest'
import { TestClock } from '../../test/sim/clock.ts'
import type { Signal } from '../ports/values/signal.ts'
import { onAbort } from './abort.ts'
import { waitAtMost, withTimeout } from './with-timeout.ts'

const timedOut = (): Error => new Error('too late')

function untilAborted(signal: Signal): Promise<never> {
  return new Promise((_resolve, reject) => onAbort(signal, () => reject(new Error('aborted'))))
}

test('work that does not end in time is aborted, and its failure says so', async () => {
  const clock = new TestClock()
  const running = withTimeout(untilAborted, { clock, ms: 100, timedOut })
  const [ended] = await Promise.allSettled([running, clock.advance(100)])
  expect(ended).toMatchObject({ status: 'rejected', reason: { message: 'too late' } })
})

test('work that is cancelled fails with its own error', async () => {
  const source = new AbortController()
  const running = withTimeout(untilAborted, { clock: new TestClock(), ms: 100, signals: [source.signal], timedOut })
  source.abort()
  await expect(running).rejects.toThrow('aborted')
})

test('work in time passes its result, and its error, on', async () => {
  const options = { clock: new TestClock(), ms: 100, timedOut }
  await expect(withTimeout(async () => 1, options)).resolves.toBe(1)
  await expect(withTimeout(() => Promise.reject(new Error('broken')), options)).rejects.toThrow('broken')
})

test('a wait ends with the work, after its time, or with a signal', async () => {
  const clock = new TestClock()
  const source = new AbortController()
  const never = new Promise<number>(() => undefined)
  await expect(waitAtMost(Promise.resolve(1), { clock, ms: 100 })).resolves.toBe(1)
  const late = waitAtMost(never, { clock, ms: 100 })
  await clock.advance(100)
  await expect(late).resolves.toBeUndefined()
  const cancelled = waitAtMost(never, { clock, ms: 100, signals: [source.signal] })
  source.abort()
  await expect(cancelled).resolves.toBeUndefined()
})
