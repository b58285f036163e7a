/** The machine's own clock. */
import { expect, test } from 'vitest'
import { systemClock } from './clock.ts'

test('a hundred waits for one signal print no warning', async () => {
  const warnings: Error[] = []
  const hear = (warning: Error): number => warnings.push(warning)
  process.on('warning', hear)
  try {
    const { signal } = systemClock.abortSource()
    for (let at = 0; at < 100; at += 1) signal.addEventListener('abort', () => undefined)
    // Warnings are emitted in the next tick.
    await new Promise((resolve) => setImmediate(resolve))
    expect(warnings).toEqual([])
  } finally {
    process.off('warning', hear)
  }
})
