/** A client that sends its request a byte at a time holds a connection no longer than it may. */
import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { expect, test } from 'vitest'
import { nextBytes } from '../../../test/wire/next-bytes.ts'
import { HttpServer } from './server.ts'

test.each([
  ['headers', 'GET /acp HTTP/1.1\r\nHo', { headersMs: 50, requestMs: 60_000 }],
  ['body', 'POST /acp HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{', { headersMs: 50, requestMs: 100 }],
])('a client whose %s do not end in time is answered 408 and cut off', async (_part, bytes, times) => {
  const server = new HttpServer(
    undefined,
    { request: (request) => void request.resume(), upgrade: () => undefined },
    { ...times, checkMs: 10 },
  )
  server.listening.listen(0, '127.0.0.1')
  await once(server.listening, 'listening')
  const slow = connect((server.listening.address() as AddressInfo).port, '127.0.0.1')
  slow.write(bytes)
  expect(String(await nextBytes(slow))).toMatch(/^HTTP\/1\.1 408 /u)
  await once(slow, 'close')
  server.destroy()
})
