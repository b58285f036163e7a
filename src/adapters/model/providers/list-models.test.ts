/** Whether a server listens at an address, on real sockets. */
import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { freePort } from '../../../../test/fixtures/process/free-port.ts'
import { systemClock } from '../../clock.ts'
import { isPortClosed } from './list-models.ts'

const LIMIT_MS = 60_000

test('a port with a listener is open, and closed once the listener is gone', async () => {
  const port = await freePort()
  const server = createServer((socket) => void socket.resume()).listen(port, '127.0.0.1')
  await once(server, 'listening')
  const asked = [`http://127.0.0.1:${port}/v1`, `http://localhost:${port}/v1`]
  for (const url of asked) expect(await isPortClosed(url, LIMIT_MS, systemClock)).toBe(false)
  server.close()
  await once(server, 'close')
  for (const url of asked) expect(await isPortClosed(url, LIMIT_MS, systemClock)).toBe(true)
})

test('a host name that does not resolve is left to the real request', async () => {
  expect(await isPortClosed('http://nowhere.invalid/v1', LIMIT_MS, systemClock)).toBe(false)
})
