/** A transport over streams that break and clients that stop reading. */
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { type Holder, SharedLimit, openStreamTransport } from './streams.ts'
import type { Received } from './transport.ts'

test('a pipe that breaks with much unread is no longer backpressured', async () => {
  const output = new PassThrough()
  const wire = openStreamTransport(new PassThrough(), output)
  wire.send(['x'.repeat(2 * 1024 * 1024)])
  expect(wire.isBackpressured()).toBe(true)
  const room = wire.drained()
  output.destroy(new Error('it broke'))
  expect(wire.isBackpressured()).toBe(false)
  await room
})

test('waiting for a drained transport leaves no listener behind', async () => {
  const output = new PassThrough()
  const wire = openStreamTransport(new PassThrough(), output)
  const before = output.listenerCount('close') + output.listenerCount('drain')
  for (let n = 0; n < 20; n += 1) {
    wire.send(['x'.repeat(2 * 1024 * 1024)])
    const room = Promise.all([wire.drained(), wire.drained()])
    while (output.read() !== null);
    await room
  }
  expect(output.listenerCount('close') + output.listenerCount('drain')).toBe(before)
})

describe('the limit of bytes over all connections', () => {
  const MIB = 1024 * 1024
  const limits = () => ({ unfinished: new SharedLimit(4 * MIB), unread: new SharedLimit(4 * MIB) })

  test('for unfinished lines: the connection with the longest one is not read further, the others are', async () => {
    const shared = limits()
    const inputs = Array.from({ length: 3 }, () => new PassThrough())
    const wires = inputs.map((input) => openStreamTransport(input, new PassThrough(), shared))
    const read = wires.map(async ({ messages }) => {
      const all: Received[] = []
      for await (const some of messages) all.push(...some)
      return all
    })
    for (const [index, mebibytes] of [1, 2, 1.5].entries()) inputs[index]?.write('x'.repeat(mebibytes * MIB))
    await read[1]
    for (const input of inputs) input.end('y\n')
    const answers = (await Promise.all(read)).map((all) =>
      all.map((one) => (typeof one === 'string' ? one.trimEnd().length : one.error.code)),
    )
    expect(answers).toEqual([[MIB + 1], ['UNFINISHED_LIMIT'], [1.5 * MIB + 1]])
  })

  test('a line that has ended or was dropped no longer counts', async () => {
    const shared = limits()
    for (let times = 0; times < 5; times += 1) {
      const input = new PassThrough()
      const messages = openStreamTransport(input, new PassThrough(), shared).messages[Symbol.asyncIterator]()
      const first = messages.next()
      const text = `{"jsonrpc":"2.0","method":"m","params":{"x":"${'x'.repeat(2 * MIB)}"}}`
      input.write(`${text}\n`)
      expect((await first).value[0].trimEnd() === text).toBe(true)
      const next = messages.next()
      input.write('x'.repeat(3 * MIB))
      input.destroy()
      expect((await next).done).toBe(true)
    }
  })

  test('a closed connection no longer counts', async () => {
    const told = new Map<Holder, number>()
    class Watched extends SharedLimit {
      override changed(holder: Holder): void {
        told.set(holder, holder.bytes())
        super.changed(holder)
      }
    }
    const output = new PassThrough()
    const wire = openStreamTransport(new PassThrough(), output, { ...limits(), unread: new Watched(4 * MIB) })
    wire.send(['x'.repeat(2 * MIB)])
    expect([...told.values()]).toEqual([2 * MIB + 1])
    output.destroy()
    await once(output, 'close')
    expect([...told.values()]).toEqual([0])
  })

  test('for unread output: the connection with the most is closed, and what was read no longer counts', () => {
    const shared = limits()
    const outputs = Array.from({ length: 3 }, () => new PassThrough())
    const [one, two, three] = outputs.map((output) => openStreamTransport(new PassThrough(), output, shared))
    one?.send(['x'.repeat(2 * MIB)])
    outputs[0]?.read()
    two?.send(['x'.repeat(3 * MIB)])
    three?.send(['x'.repeat(2 * MIB)])
    expect(outputs.map(({ destroyed }) => destroyed)).toEqual([false, true, false])
  })
})
