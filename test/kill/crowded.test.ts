/** More come than the server has descriptors for: it lives, and can be stopped. */
import { type Socket, connect } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { Town } from './town.ts'

const FEW = ['sh', '-c', 'ulimit -n 60; exec "$@"', 'sh']
const towns: Town[] = []
const crowd: Socket[] = []

afterEach(async () => {
  for (const socket of crowd.splice(0)) socket.destroy()
  for (const town of towns.splice(0)) await town.raze()
})

/** A server that lets nobody in any more: whoever comes is let go at once. */
async function crowdedTown(): Promise<Town> {
  const town = await Town.found([{ chunk: 'word {n}', times: 3 }])
  towns.push(town)
  await town.serve({}, FEW)
  for (let full = 0; full < 3;) full = (await comesIn(town.socket)) ? 0 : full + 1
  return town
}

/** Whether it is answered; then it stays. */
function comesIn(path: string): Promise<boolean> {
  const socket = connect(path)
  crowd.push(socket)
  const params = { protocolVersion: 1, clientCapabilities: {} }
  socket.write(`${JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params })}\n`)
  return new Promise((resolve) => {
    socket.on('error', () => undefined)
    socket.once('data', () => resolve(true)).once('close', () => resolve(false))
  })
}

test('a server without a descriptor left is stopped by `parley stop` all the same', async () => {
  const town = await crowdedTown()
  const { code, stderr } = await town.says(['stop', '--grace', '0'])
  expect([code, stderr]).toEqual([0, ''])
  expect(town.server()).toBe(undefined)
})
