/** A wire over streams that break and readers that leave. */
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { openWire } from './streams.ts'

test('a pipe that breaks with much unread owes nobody anything any more, in the same breath', async () => {
  const output = new PassThrough()
  const wire = openWire(new PassThrough(), output)
  wire.send('x'.repeat(2 * 1024 * 1024))
  expect(wire.congested()).toBe(true)
  const room = wire.room()
  output.destroy(new Error('it broke'))
  expect(wire.congested()).toBe(false)
  await room
})

test('however often room is waited for, nothing is left listening', async () => {
  const output = new PassThrough()
  const wire = openWire(new PassThrough(), output)
  const before = output.listenerCount('close') + output.listenerCount('drain')
  for (let n = 0; n < 20; n += 1) {
    wire.send('x'.repeat(2 * 1024 * 1024))
    const room = Promise.all([wire.room(), wire.room()])
    while (output.read() !== null);
    await room
  }
  expect(output.listenerCount('close') + output.listenerCount('drain')).toBe(before)
})
