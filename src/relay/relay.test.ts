/** The relay without a server that it could reach. */
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { ParleyError } from '../errors/parley-error.ts'
import { requestMessage } from '../rpc/json-rpc.ts'
import { relay } from './relay.ts'

test('once its client has left, the relay starts no server', async () => {
  let dials = 0
  const tick = () => new Promise<void>((resolve) => setImmediate(resolve))
  const client = new PassThrough()
  const output = new PassThrough().resume()
  const relayed = relay({
    input: client,
    output,
    handshake: { version: '0.0.0', agentChosen: false },
    server: {
      dial: async () => {
        dials += 1
        throw new Error('no server listens')
      },
      start: async () => {
        throw new ParleyError('STATE_IN_USE', { path: '/state', pid: 1 })
      },
      pause: tick,
    },
    offers: { find: async () => undefined, remember: async () => undefined },
    newId: () => 'id',
    say: () => undefined,
  })
  client.end(`${requestMessage(1, 'initialize', { protocolVersion: 1 })}\n`)
  await relayed
  // The attempt that was under way ends.
  for (let ticks = 0; ticks < 20; ticks += 1) await tick()
  const before = dials
  for (let ticks = 0; ticks < 50; ticks += 1) await tick()
  expect(dials).toBe(before)
})
