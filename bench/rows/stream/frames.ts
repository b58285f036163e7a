/** The transport alone, without sessions and journal: how many updates one WebSocket carries, a frame each and many lines a frame. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'
import { systemClock } from '../../../src/adapters/clock.ts'
import { BodyBudget } from '../../../src/edge/http/admission/body-budget.ts'
import { MANY_LINES, WebSocketTransport } from '../../../src/edge/http/websocket.ts'
import { SharedLimit } from '../../../src/edge/transport/streams.ts'
import { type Measuring, type Row, median, perSecond } from '../../row.ts'

/** Of one write to the client, as a session batches them. */
const BATCH = 50
/** What a trial of `ws` alone reached on the machine of the goals. */
const GOALS = { single: 37_000, lines: 341_000 }

/** A client that reads and counts bytes, in a process of its own. */
const READER = `
const [port, protocol] = process.argv.slice(1)
const socket = require('node:net').connect(Number(port), '127.0.0.1')
socket.write(['GET / HTTP/1.1', 'Host: x', 'Upgrade: websocket', 'Connection: Upgrade', 'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', ...(protocol ? ['Sec-WebSocket-Protocol: ' + protocol] : []), '', ''].join('\\r\\n'))
socket.on('data', () => undefined).on('close', () => process.exit())
`

export async function frames({ quick }: Measuring): Promise<readonly Row[]> {
  const count = quick ? 100_000 : 200_000
  const turns = quick ? 1 : 5
  const single = await series(turns, () => carried(count, undefined))
  const lines = await series(turns, () => carried(count, MANY_LINES))
  return [rowOf('a frame each', single, GOALS.single), rowOf(`${BATCH} lines a frame`, lines, GOALS.lines)]
}

interface Carried {
  readonly rate: number
  /** Microseconds for one update. */
  readonly processor: number
}

async function series(turns: number, measure: () => Promise<Carried>): Promise<Carried> {
  await measure()
  const all: Carried[] = []
  for (let turn = 0; turn < turns; turn += 1) all.push(await measure())
  return { rate: median(all.map(({ rate }) => rate)), processor: median(all.map(({ processor }) => processor)) }
}

function rowOf(how: string, { rate, processor }: Carried, goal: number): Row {
  return {
    what: `updates over a WebSocket alone, ${how}`,
    measured: `${perSecond(rate)}, ${processor.toFixed(2)} µs CPU each`,
    goal: perSecond(goal),
    floor: 'ws alone in a trial',
    ok: rate >= goal,
  }
}

async function carried(count: number, protocol: string | undefined): Promise<Carried> {
  const webSockets = new WebSocketServer({ noServer: true, clientTracking: false, perMessageDeflate: false })
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const opened = new Promise<WebSocketTransport>((resolve) => {
    server.on('upgrade', (request, wire, head) =>
      webSockets.handleUpgrade(request, wire, head, (socket) => {
        const unfinished = new BodyBudget().shareOf('bench')
        resolve(
          new WebSocketTransport(socket, wire, { clock: systemClock, unread: new SharedLimit(2 ** 30), unfinished }),
        )
      }),
    )
  })
  const { port } = server.address() as AddressInfo
  const reader = spawn(process.execPath, ['-e', READER, String(port), protocol ?? ''], { stdio: 'inherit' })
  const transport = await opened
  transport.initialized()
  const batches = Array.from({ length: count / BATCH }, (_, batch) => updates(batch))
  const before = process.cpuUsage()
  const began = performance.now()
  for (const batch of batches) {
    transport.send(batch)
    if (transport.isBackpressured()) await transport.drained()
  }
  await transport.drained()
  const { user, system } = process.cpuUsage(before)
  const read = once(reader, 'exit')
  transport.destroy()
  // It ends when it has read all of it.
  await read
  const seconds = (performance.now() - began) / 1_000
  server.close()
  return { rate: count / seconds, processor: (user + system) / count }
}

function updates(batch: number): readonly string[] {
  return Array.from({ length: BATCH }, (_, index) => {
    const seq = batch * BATCH + index
    const content = { type: 'text', text: `and ${seq} more words ` }
    const update = { sessionUpdate: 'agent_message_chunk', content }
    const params = { sessionId: '5f0c3c1e-8a55-4d7e-9d2f-000000000000', update, _meta: { 'parley/seq': seq } }
    return JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params })
  })
}
