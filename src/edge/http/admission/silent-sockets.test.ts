/** Of more silent connections than may be open the oldest make room, and no other. */
import { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { SilentSockets } from './silent-sockets.ts'

function connection(remotePort: number): Socket {
  return Object.defineProperty(new Socket(), 'remotePort', { value: remotePort })
}

test('the oldest make room for the newest, and what has shown a credential or is closed takes none', () => {
  const silent = new SilentSockets()
  const sockets = Array.from({ length: 1_026 }, (_, n) => connection(n))
  const [admitted, ...rest] = sockets
  for (const socket of sockets.slice(0, 1_025)) {
    silent.add(socket)
    if (socket === admitted) silent.admitted(socket)
  }
  expect(sockets.filter(({ destroyed }) => destroyed)).toEqual([])
  for (const socket of sockets.slice(1_025)) silent.add(socket)
  expect(sockets.filter(({ destroyed }) => destroyed)).toEqual(rest.slice(0, 1))
  rest[1]?.emit('close')
  silent.add(connection(2_000))
  expect(sockets.filter(({ destroyed }) => destroyed)).toEqual(rest.slice(0, 1))
})
