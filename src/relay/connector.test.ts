/** How long the relay tries to reach a server, with a clock of the test's own. */
import { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { ParleyError } from '../errors/parley-error.ts'
import { Connector } from './connector.ts'

/** Each try ends as the next of `ends` says. */
function around(ends: readonly (ParleyError | 'found')[]) {
  const pauses: number[] = []
  let tries = 0
  let last: ParleyError | 'found' | undefined
  const connector = new Connector(
    {
      async dial() {
        if (last === 'found') return new Socket()
        throw new Error('ENOENT')
      },
      async start() {
        last = ends[tries]
        tries += 1
        if (last instanceof ParleyError) throw last
      },
      async pause(ms) {
        pauses.push(ms)
      },
    },
    () => undefined,
  )
  return { connector, pauses, tries: () => tries }
}

const failed = new ParleyError('SERVER_START_FAILED', { log: '/log', reason: 'it fell over.' })

test('a server that cannot be started is tried again, with growing pauses', async () => {
  const { connector, pauses } = around([failed, failed, 'found'])
  await connector.connect()
  expect(pauses).toEqual([300, 2_700])
})

test('after some attempts the relay gives up with the reason, and each request makes one more attempt at once', async () => {
  const { connector, tries, pauses } = around(Array.from({ length: 10 }, () => failed))
  await expect(connector.connect()).rejects.toBe(failed)
  expect(tries()).toBe(3)
  const waited = pauses.length
  connector.hurry()
  await expect(connector.connect()).rejects.toBe(failed)
  expect(tries()).toBe(4)
  expect(pauses).toHaveLength(waited)
})

test('after a permanent failure the relay gives up at once', async () => {
  const permanent = new ParleyError('SOCKET_UNUSABLE', { path: '/s', reason: 'it belongs to another user' })
  const { connector, tries } = around([permanent, 'found'])
  await expect(connector.connect()).rejects.toBe(permanent)
  expect(tries()).toBe(1)
})

test('after servers that end before they answer the relay gives up too, until one has answered', async () => {
  const { connector } = around(['found'])
  for (let times = 0; times < 5; times += 1) {
    await connector.connect()
    connector.failed()
  }
  await expect(connector.connect()).rejects.toMatchObject({ code: 'SERVER_LOST' })
  connector.succeeded()
  await connector.connect()
})
