import { expect, test } from 'vitest'
import { onAbort, unlessAborted } from './abort.ts'

test('a listener runs once, also on a signal that has already aborted', () => {
  let runs = 0
  const source = new AbortController()
  onAbort(source.signal, () => runs++)
  source.abort()
  source.abort()
  onAbort(source.signal, () => runs++)
  expect(runs).toBe(2)
})

test('a listener that was stopped does not run', () => {
  let runs = 0
  const source = new AbortController()
  onAbort(source.signal, () => runs++)()
  source.abort()
  expect(runs).toBe(0)
})

test('a wait ends with the signal, with the reason that its caller gives', async () => {
  const source = new AbortController()
  const waiting = unlessAborted(new Promise(() => undefined), source.signal, () => new Error('cancelled'))
  source.abort()
  await expect(waiting).rejects.toThrow('cancelled')
  await expect(unlessAborted(Promise.resolve(1), new AbortController().signal, () => 'no')).resolves.toBe(1)
})
