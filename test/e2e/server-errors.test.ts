/** Errors that nothing in a server catches: they are logged, and end neither it nor the turns that run. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { until } from '../fixtures/process/running.ts'
import { promptOf } from './parley.ts'
import { RawSocket } from './raw-socket.ts'
import { type Place, cleanUpServers, logOf, openSession, placeWith, serve } from './server.ts'

cleanUpServers()

const preload = new URL('../fixtures/process/stray-errors.cjs', import.meta.url).pathname
const strayOf = ({ cwd }: Place): string => join(cwd, 'stray')
const failing = (place: Place) => serve(place, { NODE_OPTIONS: `--require=${preload}`, STRAY: strayOf(place) })

test.concurrent.each(['rejection', 'exception'])(
  'a stray %s ends no turn, and is logged with the session at work',
  async (kind) => {
    // It runs for as long as the test wants.
    const place = await placeWith([{ chunk: 'w{n} ', times: 100_000, everyMs: 5 }])
    const server = await failing(place)
    const client = await RawSocket.open(place.socket)
    const sessionId = await openSession(client, place)
    const asked = client.ask('session/prompt', promptOf(sessionId, 'go'))
    await client.until(({ method }) => method === 'session/update')
    writeFileSync(strayOf(place), kind)
    server.child.kill('SIGUSR2')
    await until(() => logOf(place).includes(`a stray ${kind}`))
    expect(logOf(place)).toContain(`Nothing caught this ${kind}; turns ran in ${sessionId}`)
    const { length } = client.received
    await client.until((message) => client.received.indexOf(message) >= length && message.method === 'session/update')
    client.notify('session/cancel', { sessionId })
    expect((await client.answerTo(asked)).result).toEqual({ stopReason: 'cancelled' })
  },
)

test.concurrent('a storm of errors ends it, and it says why', async () => {
  const place = await placeWith()
  const server = await failing(place)
  writeFileSync(strayOf(place), 'storm')
  server.child.kill('SIGUSR2')
  const { code, stderr } = await server.finished
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('were not caught') })
})
