/** Clients that are silent, slow or late, over real sockets; the clock is the test's own. */
import { once } from 'node:events'
import { type Server, createServer } from 'node:http'
import { type AddressInfo, type Socket, connect } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { RawWebSocket } from '../../../test/wire/raw-web-socket.ts'
import { TestClock } from '../../../test/sim/clock.ts'
import { SharedLimit } from '../transport/streams.ts'
import { BodyBudget } from './admission/body-budget.ts'
import { MANY_LINES, WebSocketTransport } from './websocket.ts'

const KIB = 1024
const MIB = 1024 * KIB
/** Of a message: three fit into the limit of a credential and four do not; two and a whole message of a MiB do, however the reads cut them. */
const PART_BYTES = 600 * KIB

let server: Server
let clock: TestClock
let transports: WebSocketTransport[]
let budget: BodyBudget
/** What the server has counted of the unfinished message of each transport. */
let counted: number[]
const plain = { noServer: true, clientTracking: false, perMessageDeflate: false }
const webSockets = new WebSocketServer({ ...plain, handleProtocols: () => MANY_LINES })

beforeEach(async () => {
  clock = new TestClock()
  transports = []
  // A connection of the test before may close only now, and counts there.
  const own: number[] = []
  counted = own
  budget = new BodyBudget({ ofAll: 8 * MIB, ofOne: 2_300 * KIB })
  server = createServer()
  server.on('upgrade', (request, wire, head) =>
    webSockets.handleUpgrade(request, wire, head, (socket) => {
      const share = budget.shareOf(request.url ?? '')
      const at = transports.length
      const unfinished = { set: (bytes: number) => share.set((own[at] = bytes)) }
      transports.push(new WebSocketTransport(socket, wire, { clock, unread: new SharedLimit(256 * MIB), unfinished }))
    }),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterEach(() => {
  for (const transport of transports) transport.destroy()
  server.close()
})

const port = (): number => (server.address() as AddressInfo).port
const opened = (...protocols: string[]) => RawWebSocket.open(`ws://127.0.0.1:${port()}`, 'x', protocols)
/** The next messages of a client, and whether there are no more. */
const nextOf = (from: WebSocketTransport | undefined) => from?.messages[Symbol.asyncIterator]().next()

function transport(): WebSocketTransport {
  return transports[0] ?? expect.fail('no client has connected')
}

/** A client that has upgraded and does nothing more, not even answer a ping. */
async function silent(path = '/'): Promise<Socket> {
  const socket = connect(port(), '127.0.0.1')
  const key = 'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n${key}\r\n\r\n`)
  await once(socket, 'data')
  socket.on('error', () => undefined)
  return socket
}

test('a client that sends no initialize for ten seconds is closed, and one that has sent it is not', async () => {
  const late = await opened()
  await clock.advance(9_999)
  const greeted = await opened()
  transports[1]?.initialized()
  await clock.advance(10_000)
  expect((await late.closed)[0]).toBe(1008)
  expect(greeted.socket.readyState).toBe(greeted.socket.OPEN)
})

test('a client that is silent for 45 seconds is closed, and another one is pinged', async () => {
  const dead = await silent()
  const alive = await opened()
  for (const one of transports) one.initialized()
  const heard = transports[1]?.messages[Symbol.asyncIterator]()
  const gone = once(dead, 'close')
  for (let pings = 0; pings < 2; pings += 1) {
    alive.socket.send('{}')
    expect((await heard?.next())?.done).toBe(false)
    const pinged = once(alive.socket, 'ping')
    await clock.advance(20_000)
    await pinged
  }
  await clock.advance(5_000)
  await gone
  expect(alive.socket.readyState).toBe(alive.socket.OPEN)
})

test('a slow client is lagging from 1 MiB on, and cut at 64 MiB', async () => {
  const slow = await silent()
  slow.pause()
  const block = 'x'.repeat(MIB)
  for (let sent = 0; !transport().isBackpressured(); sent += 1) {
    expect(sent).toBeLessThan(32)
    transport().send([block])
  }
  const gone = once(slow, 'close')
  for (let sent = 0; transport().bytes() <= 64 * MIB; sent += 1) {
    expect(sent).toBeLessThan(80)
    transport().send([block])
  }
  expect(transport().isBackpressured()).toBe(false)
  const drained = transport().drained()
  await clock.advance(500)
  slow.resume()
  await Promise.all([gone, drained])
  expect(transport().bytes()).toBe(0)
})

/** A text frame of 1 MiB and its mask, without its data. */
const BEGUN = Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0])

test('unfinished messages of one credential have a common limit, and take no room from another credential', async () => {
  const rest = Buffer.alloc(MIB - PART_BYTES)
  const begin = async (path: string): Promise<Socket> => {
    const socket = await silent(path)
    transports.at(-1)?.initialized()
    socket.write(Buffer.concat([BEGUN, Buffer.alloc(PART_BYTES)]))
    return socket
  }
  /** Once the server has read it: the connection that is one too many is the last. */
  const counts = async (path: string): Promise<Socket> => {
    const socket = await begin(path)
    await expect.poll(() => counted.at(-1)).toBe(BEGUN.length + PART_BYTES)
    return socket
  }
  const [ada, bob] = [await counts('/ada'), await counts('/bob')]
  for (const _more of [1, 2]) await counts('/ada')
  const cut = await begin('/ada')
  const gone = once(cut, 'close')
  expect(((await once(cut, 'data'))[0] as Buffer).readUInt16BE(2)).toBe(4429)
  // Until then it counts.
  await gone
  // What was begun still ends, and then there is room again.
  ada.write(rest)
  expect((await nextOf(transports[0]))?.done).toBe(false)
  const next = await begin('/ada')
  next.write(rest)
  expect((await nextOf(transports.at(-1)))?.done).toBe(false)
  expect(bob.destroyed).toBe(false)
})

/** A part of a message that goes on behind it, and a ping, whose answer says that all has come. */
const PART = Buffer.concat([
  Buffer.from([0x01, 0xff, 0, 0, 0, 0, 0, 0x09, 0x60, 0, 0, 0, 0, 0]),
  Buffer.alloc(PART_BYTES),
  Buffer.from([0x89, 0x80, 0, 0, 0, 0]),
])

test('what a client has sent counts until its connection has closed, at once when it was too much', async () => {
  const begin = async (): Promise<readonly [Socket, Buffer]> => {
    const socket = await silent('/ada')
    transports.at(-1)?.initialized()
    socket.write(PART)
    return [socket, (await once(socket, 'data'))[0] as Buffer]
  }
  const pong = Buffer.from([0x8a, 0])
  const [closing] = await begin()
  transport().cut('token')
  const closed = once(closing, 'close')
  for (const _more of [1, 2]) expect((await begin())[1]).toEqual(pong)
  const [cut, reason] = await begin()
  expect(reason.readUInt16BE(2)).toBe(4429)
  await once(cut, 'close')
  await clock.advance(500)
  await closed
  expect((await begin())[1]).toEqual(pong)
})

test('control frames are no part of an unfinished message', async () => {
  const client = await silent('/ada')
  transport().initialized()
  const pong = Buffer.from([0x8a, 0x80 + 125, 0, 0, 0, 0, ...Buffer.alloc(125)])
  for (let n = 0; n < 20; n += 1) client.write(Buffer.alloc(pong.length * 1_000, pong))
  client.write(Buffer.from([0x81, 0x82, 0, 0, 0, 0, ...Buffer.from('{}')]))
  expect((await nextOf(transport()))?.value).toEqual(['{}'])
})

test('our own clients get many messages in a frame', async () => {
  const client = await opened(MANY_LINES)
  const frame = once(client.socket, 'message') as Promise<[Buffer]>
  transport().send(['{"id":1}', '{"id":2}'])
  expect((await frame)[0].toString()).toBe('{"id":1}\n{"id":2}')
})

test('the first of much does not wait for the last: a frame is no longer than 16 KiB, or one message', async () => {
  const client = await opened(MANY_LINES)
  const frames: (readonly string[])[] = []
  client.socket.on('message', (frame: Buffer) => frames.push(frame.toString().split('\n')))
  const long = `{"text":"${'x'.repeat(20_000)}"}`
  const short = Array.from({ length: 40 }, (_one, n) => `{"id":${n}${' '.repeat(1_000)}}`)
  const sent = ['{"id":1}', '{"id":2}', long, ...short, long]
  transport().send(sent)
  while (frames.flat().length < sent.length) await once(client.socket, 'message')
  expect(frames.flat()).toEqual(sent)
  expect(frames.map(({ length }) => length)).toEqual([2, 1, 16, 16, 8, 1])
})

test('of many clients that get the same messages the later ones get them gathered; each has all of them in order', async () => {
  const clients: RawWebSocket[] = []
  for (let n = 0; n < 6; n += 1) clients.push(await opened(MANY_LINES))
  const [first, second] = [['{"id":1}', '{"id":2}'], ['{"id":3}']]
  const ids = () => clients.map(({ received }) => received.map(({ id }) => id).join(' '))
  for (const batch of [first, second]) for (const one of transports) one.send(batch)
  // What is for this client alone does not wait, nor does it pass what does.
  transports[4]?.send(['{"id":4}'])
  for (const [n, client] of clients.slice(0, 5).entries()) await hears(client, n === 4 ? 4 : 3)
  expect(ids()).toEqual(['1 2 3', '1 2 3', '1 2 3', '1 2 3', '1 2 3 4', ''])
  await clock.advance(16)
  const [last] = clients.slice(5)
  if (last !== undefined) await hears(last, 3)
  transports[5]?.send(first)
  transports[5]?.cut('token')
  await last?.closed
  expect(ids()[5]).toBe('1 2 3 1 2')
})

async function hears(client: RawWebSocket, messages: number): Promise<void> {
  while (client.received.length < messages) await once(client.socket, 'message')
}

test('a client that is cut gets the reason; frames that wait by then are discarded, and nothing more is sent', async () => {
  const client = await opened()
  const messages = transport().messages[Symbol.asyncIterator]()
  client.socket.send('{"id":1}')
  expect(await messages.next()).toEqual({ done: false, value: ['{"id":1}'] })
  for (const id of [2, 3]) client.socket.send(`{"id":${id}}`)
  transport().cut('token')
  transport().send(['{"id":4}'])
  // The client's answer to the close comes behind its frames.
  expect(await client.closed).toEqual([4401, expect.any(String)])
  expect((await messages.next()).done).toBe(true)
  expect(client.received).toEqual([])
})

test.each([[[MANY_LINES]], [[]]])(
  'texts of every length and any letters arrive as they were, in their order, with subprotocols %j',
  async (protocols) => {
    const client = new WebSocket(`ws://127.0.0.1:${port()}/`, protocols)
    const received: string[] = []
    client.on('message', (data: Buffer) => received.push(...data.toString().split('\n')))
    await once(client, 'open')
    const lengths = [1, 124, 125, 126, 127, 65_534, 65_535, 65_536, 65_537, MIB]
    const textsOf = (n: number) => ['a'.repeat(n), '汉'.repeat(n / 3), `${'😀'.repeat(n / 4)}é`]
    const texts = lengths.flatMap(textsOf)
    transport().send([...texts, 'half of a pair: \ud83d'])
    for (const one of [...texts, 'end']) transport().send([one])
    await expect.poll(() => received.at(-1)).toBe('end')
    expect(received).toEqual([...texts, 'half of a pair: \ufffd', ...texts, 'end'])
    client.terminate()
  },
)
