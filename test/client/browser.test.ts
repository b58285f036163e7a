/** The client in a browser: bundled for one, it needs nothing of Node, and works over a pair of sockets that carry messages. */
import { fileURLToPath } from 'node:url'
import { createContext, runInContext } from 'node:vm'
import { type OutputChunk, build } from 'rolldown'
import { beforeAll, describe, expect, test } from 'vitest'
import { serveConnection } from '../../src/edge/acp/connection.ts'
import type { Received, Transport } from '../../src/edge/transport/transport.ts'
import { House } from '../sim/house.ts'

/** What both ends of a WebSocket have. */
class FakeSocket {
  onmessage: (event: { readonly data: string }) => void = () => undefined
  onclose: () => void = () => undefined
  peer: FakeSocket | undefined

  send(data: string): void {
    queueMicrotask(() => this.peer?.onmessage({ data }))
  }

  close(): void {
    queueMicrotask(() => this.peer?.onclose())
  }
}

function socketPair(): readonly [FakeSocket, FakeSocket] {
  const [one, other] = [new FakeSocket(), new FakeSocket()]
  one.peer = other
  other.peer = one
  return [one, other]
}

/** What a transport over WebSockets takes: the edge asks for messages, not for lines. */
function transportOf(socket: FakeSocket): Transport {
  /** Undefined where the page has closed. */
  const arrived: (Received | undefined)[] = []
  let wake = (): void => undefined
  const arrive = (received: Received | undefined): void => {
    arrived.push(received)
    wake()
  }
  socket.onmessage = ({ data }) => arrive(data)
  socket.onclose = () => arrive(undefined)
  return {
    messages: (async function* () {
      for (;;) {
        if (arrived.length === 0) await new Promise<void>((resolve) => (wake = resolve))
        const received = arrived.shift()
        if (received === undefined) return
        yield [received]
      }
    })(),
    send: (messages) => {
      for (const message of messages) socket.send(message)
    },
    isBackpressured: () => false,
    drained: async () => undefined,
    close: async () => socket.close(),
    destroy: () => socket.close(),
  }
}

/** A page's own script. `parley` is the bundle, `socket` the page's end. */
const page = `
function transportOf(socket) {
  const arrived = []
  let isClosed = false
  let wake = () => undefined
  socket.onmessage = ({ data }) => { arrived.push(data); wake() }
  socket.onclose = () => { isClosed = true; wake() }
  return {
    messages: (async function* () {
      while (!isClosed || arrived.length > 0) {
        if (arrived.length > 0) yield arrived.shift()
        else await new Promise((resolve) => (wake = resolve))
      }
    })(),
    send: (message) => socket.send(message),
    close: () => socket.close(),
  }
}
async function main() {
  const transcript = new parley.GrowingTranscript()
  const client = await parley.connect(
    { dial: async () => transportOf(socket), pause: async () => undefined, newId: () => 'p-1' },
    { updated: ({ update }) => transcript.take(update), ask: async () => null },
    { info: { name: 'page', title: 'Page', version: '1' } },
  )
  const sessionId = await client.newSession('/')
  const { stopReason } = await client.prompt(sessionId, 'Hi')
  const refused = await client.loadSession({ sessionId: 'unknown', cwd: '/' }).catch((error) => error)
  client.close()
  return { stopReason, items: transcript.items, refused: { code: refused.code, details: refused.details } }
}
main()`

let chunk: OutputChunk

beforeAll(async () => {
  const { output } = await build({
    input: fileURLToPath(new URL('../../src/client.ts', import.meta.url)),
    platform: 'browser',
    write: false,
    logLevel: 'silent',
    output: { format: 'iife', name: 'parley' },
  })
  chunk = output[0]
})

describe('the client, bundled for a browser', () => {
  test('imports nothing, neither of Node nor of the server', () => {
    expect(chunk.imports).toEqual([])
    expect(chunk.dynamicImports).toEqual([])
    const rooms = new Set(chunk.moduleIds.map((id) => /[\\/]src[\\/]([^\\/]+)/u.exec(id)?.[1]))
    expect(rooms).toEqual(new Set(['async', 'client', 'client.ts', 'errors', 'rpc']))
    expect(chunk.moduleIds.filter((id) => /catalogue|parley-error/u.test(id))).toEqual([])
    expect(chunk.code).not.toMatch(/node:|\brequire\(|\bprocess\.|\bBuffer\b/u)
  })

  test('holds a conversation where there is nothing but the language and what every browser has', async () => {
    const { clock, sessions, agents, reported } = new House()
    const [server, socket] = socketPair()
    const served = serveConnection(transportOf(server), {
      sessions: Promise.resolve(sessions),
      principal: { transport: 'websocket', isLocalUser: false, role: 'admin' },
      info: { name: 'parley', title: 'Parley', version: '0' },
      agents,
      clock,
      report: (error) => reported.push(error),
      untilReplyTimeout: async () => undefined,
    })
    const context = createContext({ socket, TextDecoder, AbortController })
    runInContext(chunk.code, context)
    const seen: unknown = await runInContext(page, context)
    expect(JSON.parse(JSON.stringify(seen))).toMatchObject({
      stopReason: 'end_turn',
      items: [{ kind: 'message', role: 'agent', content: [{ type: 'text', text: 'Hello!' }] }],
      refused: { code: 'PEER_REFUSED', details: { code: 'SESSION_NOT_FOUND', method: 'session/load' } },
    })
    await served
    expect(reported).toEqual([])
  })
})
