/** A permission request goes to every attached client; the first valid answer counts, and no other response approves. */
import { beforeEach, describe, expect, test } from 'vitest'
import type { PermissionOutcome } from '../../../../ports/values/content.ts'
import type { Fields, Message } from '../../../../../test/e2e/message.ts'
import { quiet } from '../../../../../test/sim/clock.ts'
import { type Street, cleanUp, create, openStreet, opening, prompt } from '../../../../../test/sim/street.ts'
import type { WireClient } from '../../../../../test/sim/wire-client.ts'
import { option } from '../../../../../test/sim/words.ts'
import { answerIn } from '../../../../../test/sim/puppet.ts'

cleanUp()

let street: Street
let outcomes: PermissionOutcome[]

beforeEach(() => {
  street = openStreet()
  outcomes = []
  street.house.agent.script = async (turn) => {
    const options = [option('allow_once'), option('reject_once')]
    const question = { toolCallId: 'c1', patch: { title: 'Delete all' }, options, state: 1 }
    outcomes.push(answerIn(turn) ?? (await turn.ask(question)))
    return 'end_turn'
  }
})

const isQuestion = ({ method }: Message) => method === 'session/request_permission'
const questions = (client: WireClient) => client.received.filter(isQuestion)
const chosen = (optionId: string): Fields => ({ result: { outcome: { outcome: 'selected', optionId } } })
const answer = async (client: WireClient, reply: Fields) =>
  client.send({ id: (await client.until(isQuestion)).id, ...reply })

const UNKNOWN: Fields = { error: { code: -32601, message: 'Method not found' } }
const NONE: readonly (readonly [what: string, reply: Fields])[] = [
  ['an error, because it does not know the question', UNKNOWN],
  ['something that is no answer', { result: { yes: true } }],
  ['null', { result: null }],
  ['an option that was not offered', chosen('allow_everything')],
  ['that it was dismissed', { result: { outcome: { outcome: 'cancelled' } } }],
]

async function asked(count: number): Promise<{ clients: readonly WireClient[]; sessionId: string; id: number }> {
  const clients = await Promise.all(Array.from({ length: count }, () => street.client()))
  const [first, ...others] = clients
  if (first === undefined) throw new Error('nobody is there')
  const sessionId = await create(first)
  for (const other of others) await other.request('session/load', opening(sessionId))
  const id = first.ask('session/prompt', prompt(sessionId, 'Clean up'))
  await Promise.all(clients.map((client) => client.until(isQuestion)))
  return { clients, sessionId, id }
}

test('one client answers, the request is withdrawn from the others, and a late answer changes nothing', async () => {
  const { clients, id } = await asked(3)
  const [ada, bob, carl] = clients as [WireClient, WireClient, WireClient]
  await answer(bob, chosen('allow_once'))
  expect((await ada.answerTo(id)).result).toEqual({ stopReason: 'end_turn' })
  await quiet()
  expect(outcomes).toMatchObject([{ outcome: 'selected', optionId: 'allow_once' }])
  for (const client of [ada, carl]) {
    expect(client.all('$/cancel_request')).toEqual([{ requestId: questions(client)[0]?.id }])
    await answer(client, chosen('reject_once'))
  }
  expect(bob.all('$/cancel_request')).toEqual([])
  await quiet()
  expect(outcomes).toHaveLength(1)
  expect(street.house.reported).toEqual([])
})

describe.each(NONE)('a client that answers a permission request with %s', (_what, reply) => {
  test('leaves the request to the other clients, and is not asked again', async () => {
    const { clients, sessionId, id } = await asked(2)
    const [ada, bob] = clients as [WireClient, WireClient]
    await answer(ada, reply)
    const visitor = await street.client()
    await visitor.request('session/resume', opening(sessionId))
    await quiet()
    expect(outcomes).toEqual([])
    await answer(bob, chosen('allow_once'))
    await ada.answerTo(id)
    expect(outcomes).toMatchObject([{ optionId: 'allow_once' }])
    expect(questions(ada)).toHaveLength(1)
  })

  test('rejects the call when no other client is attached', async () => {
    const { clients, id } = await asked(1)
    const [ada] = clients as [WireClient]
    await answer(ada, reply)
    expect((await ada.answerTo(id)).result).toEqual({ stopReason: 'end_turn' })
    expect(outcomes).toEqual([{ outcome: 'cancelled' }])
  })

  test('rejects the call when the other clients have no answer either', async () => {
    const { clients, id } = await asked(3)
    for (const client of clients) await answer(client, reply)
    await clients[0]?.answerTo(id)
    expect(outcomes).toEqual([{ outcome: 'cancelled' }])
  })
})

test('the transcript says that the call was not rejected by a user', async () => {
  const { clients, id } = await asked(1)
  const [ada] = clients as [WireClient]
  await answer(ada, UNKNOWN)
  await ada.answerTo(id)
  expect(ada.text).toContain('could not answer')
  expect(ada.text).toContain('Delete all')
})

test('with no client attached the request waits, after a minute only in the journal, and the next client is asked', async () => {
  const { clients, sessionId } = await asked(1)
  await clients[0]?.leave()
  await street.house.clock.advance(59_000)
  expect(street.house.sessions.counts().sessions).toBe(1)
  await street.house.clock.advance(3_600_000)
  expect(street.house.sessions.counts().sessions).toBe(0)
  expect(outcomes).toEqual([])
  const bob = await street.client()
  await bob.request('session/load', opening(sessionId))
  await answer(bob, chosen('allow_once'))
  await quiet()
  expect(outcomes).toMatchObject([{ optionId: 'allow_once' }])
})

test('with no client attached the session is unloaded with its queued prompts, which run once the request is answered', async () => {
  const { clients, sessionId } = await asked(1)
  clients[0]?.ask('session/prompt', prompt(sessionId, 'And then', 'second'))
  await quiet()
  await clients[0]?.leave()
  for (const minutes of [2, 60]) {
    await street.house.clock.advance(minutes * 60_000)
    expect(street.house.sessions.counts().sessions).toBe(0)
    const passing = await street.client()
    await passing.request('session/load', opening(sessionId))
    await passing.leave()
  }
  const bob = await street.client()
  const adopting = { _meta: { 'parley/prompts': [{ requestId: 'adopted', promptId: 'second' }] } }
  await bob.request('session/load', opening(sessionId, adopting))
  const { id: first } = await bob.until(isQuestion)
  bob.send({ id: first, ...chosen('allow_once') })
  const { id: second } = await bob.until((message) => isQuestion(message) && message.id !== first)
  bob.send({ id: second, ...chosen('allow_once') })
  expect((await bob.answerTo('adopted')).result).toEqual({ stopReason: 'end_turn' })
})

test('answers that find the disk full count once there is room: nobody is asked again, and every prompt has its end', async () => {
  const ada = await street.client()
  const sessionId = await create(ada)
  for (const promptId of ['first', 'second']) ada.ask('session/prompt', prompt(sessionId, 'Clean up', promptId))
  await ada.until(isQuestion)
  await ada.leave()
  await street.house.clock.advance(120_000)
  const [bob, carl] = [await street.client(), await street.client()]
  const adopting = ['first', 'second'].map((promptId) => ({ promptId, requestId: `adopted ${promptId}` }))
  await bob.request('session/load', opening(sessionId, { _meta: { 'parley/prompts': adopting } }))
  await carl.request('session/load', opening(sessionId))
  await bob.until(isQuestion)
  street.house.disk.trouble = 'full'
  for (const client of [bob, carl]) await answer(client, chosen('allow_once'))
  await street.house.clock.advance(5_000)
  expect(bob.received.filter(({ id }) => String(id).startsWith('adopted'))).toEqual([])
  expect(questions(bob)).toHaveLength(1)
  street.house.disk.trouble = 'none'
  await street.house.clock.advance(1_000)
  expect((await bob.answerTo('adopted first')).result).toEqual({ stopReason: 'end_turn' })
  const again = await carl.until((message) => isQuestion(message) && message.id !== questions(carl)[0]?.id)
  carl.send({ id: again.id, ...chosen('allow_once') })
  expect((await bob.answerTo('adopted second')).result).toEqual({ stopReason: 'end_turn' })
  expect(outcomes).toMatchObject([{ optionId: 'allow_once' }, { optionId: 'allow_once' }])
})

test('a client that cannot answer, while the disk is full, rejects the call once there is room', async () => {
  const { clients, sessionId } = await asked(1)
  await clients[0]?.leave()
  await street.house.clock.advance(120_000)
  const bob = await street.client()
  await bob.request('session/load', opening(sessionId))
  await bob.until(isQuestion)
  street.house.disk.trouble = 'full'
  await answer(bob, UNKNOWN)
  await street.house.clock.advance(5_000)
  expect(outcomes).toEqual([])
  street.house.disk.trouble = 'none'
  await street.house.clock.advance(1_000)
  expect(outcomes).toEqual([{ outcome: 'cancelled' }])
})

test('with no client attached the session is unloaded, and has the MCP servers of its client again when it continues', async () => {
  const ada = await street.client()
  const mcpServers = [{ name: 'docs', command: '/bin/docs', args: [], env: [] }]
  const sessionId = await create(ada, { mcpServers })
  ada.ask('session/prompt', prompt(sessionId, 'Clean up'))
  await ada.until(isQuestion)
  await ada.leave()
  await street.house.clock.advance(120_000)
  expect(street.house.tools.running).toBe(0)
  const bob = await street.client()
  await bob.request('session/load', opening(sessionId))
  expect(street.house.tools.opened.at(-1)?.servers).toMatchObject([{ name: 'docs' }])
  await answer(bob, chosen('allow_once'))
  await quiet()
  await bob.leave()
  await street.house.clock.advance(120_000)
  await (await street.client()).request('session/load', opening(sessionId))
  expect(street.house.tools.opened.at(-1)?.servers).toEqual([])
})

test('a client that disconnects leaves the request to the others', async () => {
  const { clients, id } = await asked(2)
  const [ada, bob] = clients as [WireClient, WireClient]
  await answer(bob, UNKNOWN)
  await bob.leave()
  await quiet()
  expect(outcomes).toEqual([])
  await answer(ada, chosen('reject_once'))
  await ada.answerTo(id)
  expect(outcomes).toMatchObject([{ optionId: 'reject_once' }])
})

test('a cancel withdraws an open permission request', async () => {
  const { clients, sessionId, id } = await asked(2)
  const [ada, bob] = clients as [WireClient, WireClient]
  bob.notify('session/cancel', { sessionId })
  expect((await ada.answerTo(id)).result).toEqual({ stopReason: 'cancelled' })
  expect([ada, bob].map((one) => one.all('$/cancel_request').length)).toEqual([1, 1])
  expect(outcomes).toEqual([{ outcome: 'cancelled' }])
})
