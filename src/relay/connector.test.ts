/** How long a server is looked for, with a clock of the test's own. */
import { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { ParleyError } from '../errors/parley-error.ts'
import { Connector } from './connector.ts'

/** Each try ends as the next of `ends` says. */
function around(ends: readonly (ParleyError | 'found')[]) {
  const pauses: number[] = []
  let tries = 0
  let last: ParleyError | 'found' | undefined
  const search = new Connector({
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
  })
  return { search, pauses, tries: () => tries }
}

const failed = new ParleyError('SERVER_START_FAILED', { log: '/log', reason: 'it fell over.' })

test('a server that cannot be started is tried again, with more and more patience', async () => {
  const { search, pauses } = around([failed, failed, 'found'])
  await search.find()
  expect(pauses).toEqual([300, 2_700])
})

test('after some tries it is given up with the reason, and each wish is one more try, at once', async () => {
  const { search, tries, pauses } = around(Array.from({ length: 10 }, () => failed))
  await expect(search.find()).rejects.toBe(failed)
  expect(tries()).toBe(3)
  const waited = pauses.length
  search.wanted()
  await expect(search.find()).rejects.toBe(failed)
  expect(tries()).toBe(4)
  expect(pauses).toHaveLength(waited)
})

test('what another try cannot mend is given up at once', async () => {
  const lasting = new ParleyError('SOCKET_UNUSABLE', { path: '/s', reason: 'it belongs to another user' })
  const { search, tries } = around([lasting, 'found'])
  await expect(search.find()).rejects.toBe(lasting)
  expect(tries()).toBe(1)
})

test('servers that come and go without a word are given up too, until one has proved itself', async () => {
  const { search } = around(['found'])
  for (let times = 0; times < 5; times += 1) {
    await search.find()
    search.failed()
  }
  await expect(search.find()).rejects.toMatchObject({ code: 'SERVER_LOST' })
  search.succeeded()
  await search.find()
})
