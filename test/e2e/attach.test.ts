/** Plain ACP clients on one session of a real server, each on its own socket. */
import { readFileSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import { type Fields, textOf, updateIn, updatesIn } from './message.ts'
import { promptOf } from './parley.ts'
import { RawSocket } from './raw-socket.ts'
import { type Place, cleanUpServers, pidIn, placeWith, serve } from './server.ts'

cleanUpServers()

const clients: RawSocket[] = []

afterEach(async () => {
  for (const client of clients.splice(0)) await client.leave()
})

async function join({ socket }: Place): Promise<RawSocket> {
  const client = await RawSocket.open(socket)
  clients.push(client)
  return client
}

async function create(client: RawSocket, { cwd }: Place): Promise<string> {
  const { result } = await client.request('session/new', { cwd, mcpServers: [] })
  return String(result?.['sessionId'])
}

const opening = ({ cwd }: Place, sessionId: string, more: Fields = {}) => ({ sessionId, cwd, mcpServers: [], ...more })
const said = (client: RawSocket) => updatesIn(client.received).map(textOf).join('')
const words = (count: number) => Array.from({ length: count }, (_, n) => `w${n + 1} `).join('')
const heard = (client: RawSocket, word: string) =>
  client.until((message) => textOf(updateIn(message) ?? NOTHING).includes(word))
const NOTHING = { sessionId: '', seq: 0, update: { sessionUpdate: 'nothing' } }

test('whoever joins in the middle of a message has it whole, and one answer of one counts for all', async () => {
  const place = await placeWith([{ chunk: 'w{n} ', times: 60, everyMs: 5 }, { permission: { title: 'May I?' } }])
  await serve(place)
  const ada = await join(place)
  const sessionId = await create(ada, place)
  const prompt = ada.ask('session/prompt', promptOf(sessionId, 'Go. '))
  await heard(ada, 'w20 ')
  const bob = await join(place)
  await bob.request('session/load', opening(place, sessionId))
  const isQuestion = ({ method }: { readonly method?: string }) => method === 'session/request_permission'
  const [atAda, atBob] = await Promise.all([ada.until(isQuestion), bob.until(isQuestion)])
  bob.socket.write(
    `${JSON.stringify({ jsonrpc: '2.0', id: atBob.id, result: { outcome: { outcome: 'selected', optionId: 'allow_once' } } })}\n`,
  )
  expect((await ada.answerTo(prompt)).result).toEqual({ stopReason: 'end_turn' })
  const withdrawn = await ada.until(({ method }) => method === '$/cancel_request')
  expect(withdrawn.params).toEqual({ requestId: atAda.id })
  expect(said(ada)).toBe(words(60))
  expect(said(bob)).toBe(`Go. ${words(60)}`)
})

test('a dropped connection is a detach: the turn goes on, and what its client had waiting runs too', async () => {
  const place = await placeWith([{ chunk: 'w{n} ', times: 40, everyMs: 5 }])
  await serve(place)
  const ada = await join(place)
  const sessionId = await create(ada, place)
  ada.ask('session/prompt', promptOf(sessionId, 'One. '))
  ada.ask('session/prompt', promptOf(sessionId, 'Two. '))
  await heard(ada, 'w5 ')
  await ada.leave()
  const bob = await join(place)
  await bob.request('session/load', opening(place, sessionId))
  await bob.request('session/prompt', promptOf(sessionId, 'Three. '))
  expect(said(bob)).toBe(`One. ${words(40)}Two. ${words(40)}${words(40)}`)
})

test('a client that does not read slows nobody, costs little, and gets all once from its cursor', async () => {
  const place = await placeWith([{ chunk: `{n} ${'x'.repeat(20_000)} `, times: 2_000 }])
  await serve(place)
  const ada = await join(place)
  const bob = await join(place)
  const sessionId = await create(ada, place)
  await bob.request('session/resume', opening(place, sessionId))
  bob.socket.pause()
  const before = residentMiB(place)
  const { result } = await ada.request('session/prompt', promptOf(sessionId, 'Flood.'))
  expect(result).toEqual({ stopReason: 'end_turn' })
  // Ada has had 40 MB, and the index of the search has read them; what Bob is owed of them is in the journal.
  expect(residentMiB(place) - before).toBeLessThan(200)
  await bob.leave()
  const last = updatesIn(bob.received).at(-1)?.seq ?? 0
  const again = await join(place)
  await again.request('session/resume', opening(place, sessionId, { _meta: { 'parley/after': last } }))
  await heard(again, '2000 x')
  const seqs = updatesIn(again.received).map(({ seq }) => seq)
  expect(Math.min(...seqs)).toBeGreaterThan(last)
  expect(new Set(seqs).size).toBe(seqs.length)
}, 60_000)

function residentMiB({ home }: Place): number {
  const status = readFileSync(`/proc/${pidIn(home)}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+) kB/u.exec(status)?.[1]) / 1024
}
