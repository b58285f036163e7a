/** How a client comes back to a remote server, by a clock and sockets of the test. */
import { expect, test } from 'vitest'
import { Redialling } from './redialling.ts'
import { type LiveSocket, type SocketClock, type WebSocketLike, openWebSocket } from './web-socket.ts'

/** Time passes when the test says so. */
class Clock implements SocketClock {
  #now = 0
  #timers: { readonly at: number; readonly run: () => void }[] = []

  now(): number {
    return this.#now
  }

  after(ms: number, run: () => void): () => void {
    const timer = { at: this.#now + ms, run }
    this.#timers.push(timer)
    return () => (this.#timers = this.#timers.filter((one) => one !== timer))
  }

  /** In order, also those that are set meanwhile. */
  async pass(ms: number): Promise<void> {
    const end = this.#now + ms
    await settled()
    for (;;) {
      const [next] = this.#timers.filter(({ at }) => at <= end).toSorted((one, other) => one.at - other.at)
      if (next === undefined) break
      this.#timers = this.#timers.filter((one) => one !== next)
      this.#now = next.at
      next.run()
      await settled()
    }
    this.#now = end
  }

  /** The device sleeps: no timer counts. */
  sleep(ms: number): void {
    this.#now += ms
    this.#timers = this.#timers.map(({ at, run }) => ({ at: at + ms, run }))
  }

  get waits(): readonly number[] {
    return this.#timers.map(({ at }) => at - this.#now)
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

class Socket implements WebSocketLike {
  readyState = 0
  onopen: WebSocketLike['onopen'] = null
  onmessage: WebSocketLike['onmessage'] = null
  onclose: WebSocketLike['onclose'] = null
  onerror: WebSocketLike['onerror'] = null
  readonly sent: string[] = []
  readonly protocols: readonly string[]

  constructor(protocols: readonly string[]) {
    this.protocols = protocols
  }

  send(text: string): void {
    this.sent.push(text)
  }

  close(): void {
    this.shut(1006)
  }

  answer(): void {
    this.readyState = 1
    this.onopen?.({} as never)
  }

  say(data: string): void {
    this.onmessage?.({ data } as never)
  }

  shut(code: number, reason = ''): void {
    if (this.readyState === 3) return
    this.readyState = 3
    this.onclose?.({ code, reason } as never)
  }
}

function stage(mayOpen?: () => Promise<boolean>) {
  const clock = new Clock()
  const sockets: Socket[] = []
  const dial = (protocols: readonly string[]): Socket => {
    const socket = new Socket(protocols)
    sockets.push(socket)
    return socket
  }
  const open = (): Promise<LiveSocket> => openWebSocket(dial, clock, 'secret')
  const redialling = new Redialling({ open, clock, chance: () => 0.5, ...(mayOpen && { mayOpen }) })
  return { clock, sockets, redialling }
}

test('pauses between attempts grow up to 15 s, and are short again after a handshake', async () => {
  const { clock, sockets, redialling } = stage()
  const dialled = redialling.dial()
  const pauses: number[] = []
  for (let n = 0; n < 9; n += 1) {
    await settled()
    sockets.at(-1)?.shut(1006)
    await settled()
    const [ms = 0] = clock.waits
    pauses.push(ms)
    await clock.pass(ms)
  }
  expect(pauses).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000])
  sockets.at(-1)?.answer()
  await dialled
  redialling.connected()
  void redialling.pause()
  expect(clock.waits).toContain(250)
})

test('an attempt begins at once after a hint that the server is there, such as a network change', async () => {
  const { sockets, redialling } = stage()
  const dialled = redialling.dial()
  await settled()
  sockets[0]?.shut(1006)
  await settled()
  redialling.now()
  await settled()
  expect(sockets).toHaveLength(2)
  sockets[1]?.answer()
  expect(await dialled).toBeDefined()
})

test('a handshake without an answer is given up after ten seconds, and the next one begins', async () => {
  const { clock, sockets, redialling } = stage()
  const dialled = redialling.dial()
  await clock.pass(10_250)
  expect(sockets).toHaveLength(2)
  sockets[1]?.answer()
  await dialled
  expect(sockets[1]?.protocols).toEqual(['parley.lines.v1', 'acp.v1', 'bearer.secret'])
})

test('a connection that is silent for 45 s is dead; after a sleep of the machine it must answer in 3 s', async () => {
  const { clock, sockets, redialling } = stage()
  const dialled = redialling.dial()
  await settled()
  sockets[0]?.answer()
  const messages: string[] = []
  const read = (async () => {
    for await (const message of (await dialled).messages) messages.push(message)
  })()
  await clock.pass(40_000)
  sockets[0]?.say('{"a":1}\n{"b":2}')
  await clock.pass(40_000)
  expect(sockets[0]?.readyState).toBe(1)
  clock.sleep(3_600_000)
  redialling.now()
  sockets[0]?.say('{"c":3}')
  await clock.pass(3_000)
  expect(sockets[0]?.readyState).toBe(1)
  redialling.now()
  await clock.pass(3_000)
  expect(sockets[0]?.readyState).toBe(3)
  await read
  expect(messages).toEqual(['{"a":1}', '{"b":2}', '{"c":3}'])
})

test('with an admission check, no socket is opened before it succeeds', async () => {
  const answers = [false, false, true]
  const { clock, sockets, redialling } = stage(async () => answers.shift() ?? true)
  const dialled = redialling.dial()
  await clock.pass(700)
  expect(sockets).toEqual([])
  await clock.pass(100)
  sockets[0]?.answer()
  await dialled
})

test('a client whose credential was revoked while the server was away is refused, and stops trying', async () => {
  const { sockets, redialling } = stage()
  const dialled = redialling.dial()
  await settled()
  sockets[0]?.onerror?.({ message: 'Unexpected server response: 401' } as never)
  await expect(dialled).rejects.toMatchObject({ code: 'SERVER_REFUSED', retryable: false })
})

test('no attempt is made after a credential has ended, or after the client has closed', async () => {
  const { sockets, redialling } = stage()
  const dialled = redialling.dial()
  await settled()
  sockets[0]?.answer()
  await dialled
  sockets[0]?.shut(4401, 'This device was removed; pair it again.')
  const message = expect.stringContaining('pair it again') as string
  await expect(redialling.dial()).rejects.toMatchObject({ code: 'SERVER_REFUSED', retryable: false, message })
  const other = stage()
  const waiting = other.redialling.dial()
  await settled()
  other.sockets[0]?.shut(1006)
  await settled()
  other.redialling.stop()
  await expect(waiting).rejects.toMatchObject({ code: 'CONNECTION_LOST' })
  expect(other.clock.waits).toEqual([])
})
