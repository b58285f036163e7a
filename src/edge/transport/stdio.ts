/** The transport of a process that an editor started: its stdin and stdout, without ever blocking on a slow reader. */
import { fstatSync } from 'node:fs'
import { Socket } from 'node:net'
import type { Writable } from 'node:stream'
import { openStreamTransport } from './streams.ts'
import type { Transport } from './transport.ts'

export function openStdio(): Transport {
  return openStreamTransport(process.stdin, unblockedStdout())
}

/** Node writes to pipes synchronously on stdout; a client that does not read would block the whole process. */
function unblockedStdout(): Writable {
  const stdout = fstatSync(1)
  return stdout.isFIFO() || stdout.isSocket() ? new Socket({ fd: 1, readable: false, writable: true }) : process.stdout
}
