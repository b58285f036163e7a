/** What counts as this machine. */
import { expect, test } from 'vitest'
import { isLoopback } from './loopback.ts'

test.each(['localhost', '127.0.0.1', '127.1.2.3', '::1'])('%s is this machine', (host) =>
  expect(isLoopback(host)).toBe(true),
)

test.each(['127.example.org', '127.0.0.1.example.org', 'localhost.example.org', '0.0.0.0', '::', '10.0.0.1', ''])(
  '“%s” may be another machine',
  (host) => expect(isLoopback(host)).toBe(false),
)
