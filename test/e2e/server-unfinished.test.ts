/** Clients that begin long messages and never end them: what all of them may hold of the server together is bounded. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type Socket, connect } from 'node:net'
import { expect, test } from 'vitest'
import type { Message } from './message.ts'
import { RawSocket } from './raw-socket.ts'
import { cleanUpServers, openSession, placeWith, startInBackground } from './server.ts'

cleanUpServers()

const MIB = 1024 * 1024
const PIECE = Buffer.alloc(MIB, 'x')

interface Beginner {
  readonly socket: Socket
  said: string
  readonly closed: Promise<void>
}

/** Writes so much of a line as it may. */
async function begin(path: string, mebibytes: number): Promise<Beginner> {
  const socket = connect(path)
  const beginner = { socket, said: '', closed: new Promise<void>((resolve) => socket.on('close', () => resolve())) }
  socket.on('data', (bytes) => (beginner.said += String(bytes)))
  // What is cut off while it writes breaks.
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  for (let piece = 0; piece < mebibytes && socket.writable; piece += 1) {
    const taken = new Promise<void>((resolve) => socket.write(PIECE, () => resolve()))
    await Promise.race([taken, beginner.closed])
  }
  return beginner
}

function residentBytes(pid: number): number {
  const [, kibibytes = ''] = /VmRSS:\s+(\d+)/u.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kibibytes) * 1024
}

test('the longest of many unfinished lines is cut off in words, and its memory comes back', async () => {
  const place = await placeWith([{ chunk: 'Hi.' }])
  const pid = await startInBackground(place)
  const before = residentBytes(pid)
  const beginners: Beginner[] = []
  for (let client = 0; client < 20; client += 1) beginners.push(await begin(place.socket, 15))

  const isCut = ({ said }: Beginner) => said !== ''
  await expect.poll(() => beginners.filter(isCut).length).toBeGreaterThanOrEqual(14)
  const cut = beginners.filter(isCut)
  for (const { said, closed } of cut) {
    await closed
    const lines = said.trim().split('\n')
    expect(lines).toHaveLength(1)
    const { id, error } = JSON.parse(lines[0] ?? '') as Message
    expect({ id, code: error?.data?.['code'] }).toEqual({ id: null, code: 'UNFINISHED_LIMIT' })
  }
  const other = await RawSocket.open(place.socket, { agent: place.agent })
  await openSession(other, place)

  for (const { socket } of beginners) socket.destroy()
  await Promise.all(beginners.map(({ closed }) => closed))
  await expect.poll(() => residentBytes(pid) - before).toBeLessThan(130 * MIB)
})
