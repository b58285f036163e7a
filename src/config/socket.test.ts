import { expect, test } from 'vitest'
import { isPipe, requirePrivate, socketPathOf } from './socket.ts'

test('a path of valid length is beside the journal', () => {
  expect(socketPathOf('/home/ada/state', 'linux')).toBe('/home/ada/state/server.sock')
  expect(socketPathOf(`/${'long/'.repeat(30)}`, 'darwin')).not.toContain('long')
})

test('on Windows it is a pipe, the same for each way to write a directory', () => {
  const pipe = socketPathOf('C:\\Users\\Ada\\parley', 'win32')
  expect(pipe).toMatch(/^\\\\\.\\pipe\\parley-[0-9a-f]{16}$/u)
  expect(socketPathOf('c:/users/ada/parley/', 'win32')).toBe(pipe)
  expect(socketPathOf('C:\\Users\\Eve\\parley', 'win32')).not.toBe(pipe)
  expect([isPipe(pipe), isPipe('/home/ada/state/server.sock')]).toEqual([true, false])
  expect(() => requirePrivate(pipe, { make: true })).not.toThrow()
})
