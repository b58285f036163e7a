/** Whether a server listens at an address, on real sockets. */
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { expect, test } from 'vitest'
import { systemClock } from '../../clock.ts'
import { isPortClosed } from './list-models.ts'

const LIMIT_MS = 60_000

test('a port with a listener is open, and closed once the listener is gone', async () => {
  const server = createServer((socket) => void socket.resume()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const asked = [`http://127.0.0.1:${port}/v1`, `http://localhost:${port}/v1`]
  for (const url of asked) expect(await isPortClosed(url, LIMIT_MS, systemClock)).toBe(false)
  server.close()
  await once(server, 'close')
  for (const url of asked) expect(await isPortClosed(url, LIMIT_MS, systemClock)).toBe(true)
})

test('a host name that does not resolve is left to the real request', async () => {
  expect(await isPortClosed('http://nowhere.invalid/v1', LIMIT_MS, systemClock)).toBe(false)
})
