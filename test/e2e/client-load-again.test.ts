/** Our client on the socket of a real server, which is cut while a session that is open is loaded again. */
import { type Socket, createConnection } from 'node:net'
import { expect, test } from 'vitest'
import { type Client, connect } from '../../src/client/client.ts'
import { openLineTransport } from '../../src/client/connection/transport.ts'
import type { UpdateParams } from '../../src/client/incoming/updates.ts'
import { serveHere } from './hosted-server.ts'
import { type Place, cleanUpServers, placeWith } from './server.ts'

cleanUpServers()

const seqOf = ({ _meta }: Pick<UpdateParams, '_meta'>) => Number(_meta?.['parley/seq'])

/** A connection that can be held back, and cut in the middle of a replay. */
class Wire {
  held: Promise<void> = Promise.resolve()
  /** How many updates of a replay may pass; all if undefined. */
  cutAfter: number | undefined
  dials = 0
  #reached = 0

  async dial(path: string) {
    this.dials += 1
    const socket = createConnection(path)
    socket.on('error', () => undefined)
    return openLineTransport(this.#lines(socket), socket)
  }

  async *#lines(socket: Socket): AsyncGenerator<Buffer> {
    let rest = Buffer.alloc(0)
    for await (const bytes of socket) {
      rest = Buffer.concat([rest, bytes as Buffer])
      for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
        const line = rest.subarray(0, end + 1)
        rest = rest.subarray(end + 1)
        await this.held
        yield line
        if (this.#isCutAt(line)) return void socket.destroy()
      }
    }
  }

  #isCutAt(line: Buffer): boolean {
    const { method, params } = JSON.parse(String(line)) as { readonly method?: string; readonly params: UpdateParams }
    if (method !== 'session/update') return false
    const isReplay = seqOf(params) < this.#reached
    this.#reached = Math.max(this.#reached, seqOf(params))
    if (!isReplay || this.cutAfter === undefined) return false
    this.cutAfter -= 1
    if (this.cutAfter > 0) return false
    this.cutAfter = undefined
    return true
  }
}

function open({ socket }: Place, wire: Wire, updates: UpdateParams[]): Promise<Client> {
  const face = { updated: (params: UpdateParams) => void updates.push(params), ask: async () => null }
  const means = { dial: () => wire.dial(socket), pause: async () => undefined, newId: () => crypto.randomUUID() }
  return connect(means, face, { info: { name: 'test', title: 'Test', version: '1' } })
}

const textOf = ({ update }: UpdateParams): string => (update['content'] as { readonly text?: string }).text ?? ''
const saidIn = (updates: readonly UpdateParams[]): string =>
  updates
    .filter(({ update }) => update.sessionUpdate.endsWith('_chunk'))
    .map(textOf)
    .join('')

test.each([1, 3, 5])('cut after %s updates of its replay, a load again has all of it', async (cut) => {
  const place = await placeWith([{ chunk: 'w{n} ', times: 20 }])
  await serveHere(place)
  const wire = new Wire()
  const updates: UpdateParams[] = []
  const client = await open(place, wire, updates)
  const session = { sessionId: await client.newSession(place.cwd), cwd: place.cwd }
  for (const text of ['one', 'two', 'three']) await client.prompt(session.sessionId, text)

  // What another client caused is on its way when the load is asked for.
  let release: () => void = () => undefined
  wire.held = new Promise((resolve) => (release = resolve))
  const other = await open(place, new Wire(), [])
  await other.resumeSession(session)
  await other.prompt(session.sessionId, 'four')
  const loaded = client.loadSession(session)
  wire.cutAfter = cut
  updates.length = 0
  release()
  await loaded

  const begins = updates.findIndex((update, at) => seqOf(update) < seqOf(updates[at - 1] ?? update))
  const turn = Array.from({ length: 20 }, (_, at) => `w${at + 1} `).join('')
  expect(begins).toBeGreaterThan(0)
  expect(saidIn(updates.slice(begins))).toBe(['one', 'two', 'three', 'four'].map((text) => text + turn).join(''))
  expect(wire.dials).toBe(2)
  client.close()
  other.close()
})
