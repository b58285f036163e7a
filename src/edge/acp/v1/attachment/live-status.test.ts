/**
 * Live status beyond the conversation is sent only to clients that asked for it, shows the present state, and is never
 * read from the journal.
 */
import { expect, test } from 'vitest'
import type { Fields } from '../../../../../test/e2e/message.ts'
import { quiet } from '../../../../../test/sim/clock.ts'
import { signal } from '../../../../../test/sim/puppet.ts'
import { type Street, cleanUp, create, openStreet, opening, prompt } from '../../../../../test/sim/street.ts'
import type { WireClient } from '../../../../../test/sim/wire-client.ts'
import { option, text } from '../../../../../test/sim/words.ts'

cleanUp()

const ALL = ['turn', 'queue', 'presence', 'mcp', 'agent']
const wanting = (
  notifications: readonly string[],
  clientInfo: Fields = { name: 'editor', title: 'Editor', version: '1' },
) => ({
  clientInfo,
  clientCapabilities: { _meta: { 'parley/notifications': notifications } },
})
const notices = (client: WireClient) => client.received.filter(({ method }) => method?.startsWith('_parley/') === true)
const phases = (client: WireClient) => client.all('_parley/turn').map(({ phase }) => phase)

function talkative(street: Street) {
  const go = signal()
  street.house.agent.script = async (turn) => {
    await turn.say(text('Hm. '))
    await go.given
    return 'end_turn'
  }
  return go
}

test('a client that did not subscribe gets no live status, and unknown names are ignored', async () => {
  const street = openStreet()
  const plain = await street.client()
  const other = await street.client(wanting(['weather']))
  const sessionId = await create(plain)
  await other.request('session/load', opening(sessionId))
  await plain.request('session/prompt', prompt(sessionId, 'Hello'))
  await quiet()
  expect([...notices(plain), ...notices(other)]).toEqual([])
})

test('initialize advertises the notifications that a client can subscribe to', async () => {
  const client = await openStreet().client()
  const notifications = expect.arrayContaining(ALL) as string[]
  const parley = { cursor: {}, promptId: {}, adopt: {}, role: 'admin', notifications }
  expect(client.received[0]?.result).toMatchObject({ agentCapabilities: { _meta: { parley } } })
})

test.each(['session/new', 'session/load', 'session/resume'])(
  '%s is followed by the whole live status',
  async (method) => {
    const street = openStreet()
    const first = await street.client()
    const sessionId = await create(first)
    const client = await street.client(wanting(ALL))
    const params = method === 'session/new' ? { cwd: '/', mcpServers: [] } : opening(sessionId)
    const id = client.ask(method, params)
    const answer = await client.answerTo(id)
    await quiet()
    expect(notices(client).map((message) => message.method)).toEqual(ALL.map((name) => `_parley/${name}`))
    expect(client.received.indexOf(answer)).toBeLessThan(client.received.indexOf(notices(client)[0] ?? answer))
  },
)

test('the phase of the turn is sent after the entries that changed it', async () => {
  const street = openStreet()
  street.house.agent.script = async (turn) => {
    await turn.ask({ toolCallId: 'c', patch: { title: 'T' }, options: [option('allow_once')], state: 1 })
    return 'end_turn'
  }
  const ada = await street.client(wanting(['turn']))
  const sessionId = await create(ada)
  const id = ada.ask('session/prompt', prompt(sessionId, 'Hello', 'p1'))
  const question = await ada.until(({ method }) => method === 'session/request_permission')
  ada.send({ id: question.id, result: { outcome: { outcome: 'selected', optionId: 'allow_once' } } })
  await ada.answerTo(id)
  await ada.request('session/close', { sessionId })
  await quiet()
  const working = { sessionId, phase: 'working', turnId: 't1', promptId: 'p1' }
  const waiting = { ...working, phase: 'waiting' }
  const told = ada.all('_parley/turn')
  expect(told.filter((one, n) => JSON.stringify(one) !== JSON.stringify(told[n - 1]))).toEqual(told)
  expect(told).toEqual(expect.arrayContaining([{ sessionId, phase: 'idle' }, waiting, { sessionId, phase: 'closed' }]))
  expect(phases(ada).at(-1)).toBe('closed')
})

test('the queue has the sender and the first words of each queued prompt', async () => {
  const street = openStreet()
  const go = talkative(street)
  const ada = await street.client(wanting(['queue']))
  const bob = await street.client(wanting(['queue']))
  const sessionId = await create(ada)
  await bob.request('session/load', opening(sessionId))
  const ids = [prompt(sessionId, 'One', 'p1'), prompt(sessionId, 'x'.repeat(500), 'p2')].map((one) =>
    ada.ask('session/prompt', one),
  )
  await quiet()
  const waiting = { promptId: 'p2', text: 'x'.repeat(200) }
  expect(ada.last('_parley/queue')).toEqual({ sessionId, prompts: [{ ...waiting, mine: true }] })
  expect(bob.last('_parley/queue')).toEqual({ sessionId, prompts: [{ ...waiting, mine: false }] })
  go.give()
  for (const id of ids) await ada.answerTo(id)
  await quiet()
  expect(bob.last('_parley/queue')).toEqual({ sessionId, prompts: [] })
})

test('presence has each client by the name that it gave, while it is attached', async () => {
  const street = openStreet()
  const ada = await street.client(wanting(['presence']))
  const sessionId = await create(ada)
  const bob = await street.client({ clientInfo: { name: 'phone', version: '2' } })
  await bob.request('session/load', opening(sessionId))
  await quiet()
  const me = { name: 'editor', title: 'Editor', version: '1', you: true }
  expect(ada.last('_parley/presence')).toEqual({
    sessionId,
    clients: [me, { name: 'phone', version: '2', you: false }],
  })
  await bob.leave()
  await quiet()
  expect(ada.last('_parley/presence')).toEqual({ sessionId, clients: [me] })
})

test('the state of MCP servers is sent when it changes', async () => {
  const street = openStreet()
  const ada = await street.client(wanting(['mcp']))
  const sessionId = await create(ada, { mcpServers: [{ name: 'docs', command: 'true', args: [], env: [] }] })
  street.house.tools.become('docs', 'failed')
  await quiet()
  expect(ada.last('_parley/mcp')).toEqual({
    sessionId,
    servers: [{ name: 'docs', title: 'docs', state: 'failed', tools: 0 }],
  })
  const told = ada.all('_parley/mcp').length
  await ada.request('session/prompt', prompt(sessionId, 'Hello'))
  await quiet()
  expect(ada.all('_parley/mcp')).toHaveLength(told)
})

test('a deleted session is announced to subscribed clients', async () => {
  const street = openStreet()
  const ada = await street.client(wanting(['turn']))
  const sessionId = await create(ada)
  await (await street.client()).request('session/delete', { sessionId })
  await quiet()
  expect(phases(ada).at(-1)).toBe('deleted')
})

test('a client that does not read misses intermediate states, and gets the last one', async () => {
  const street = openStreet()
  const ada = await street.client(wanting(['presence', 'turn']))
  const sessionId = await create(ada)
  const much = 'x'.repeat(64 * 1024)
  street.house.agent.script = async (turn) => {
    for (let n = 0; n < 64; n += 1) await turn.say(text(much))
    return 'end_turn'
  }
  const bob = await street.client()
  await bob.request('session/load', opening(sessionId))
  ada.stall()
  await bob.request('session/prompt', prompt(sessionId, 'Flood'))
  const before = ada.all('_parley/presence').length
  for (let n = 0; n < 20; n += 1) await (await visited(street, sessionId)).leave()
  ada.readOn()
  await ada.until(({ params }) => params?.['phase'] === 'idle' && ada.text.length === 64 * much.length)
  await quiet()
  expect(ada.last('_parley/presence')?.['clients']).toHaveLength(2)
  expect(ada.all('_parley/presence').length - before).toBeLessThan(10)
  expect(phases(ada).at(-1)).toBe('idle')
})

async function visited(street: Street, sessionId: string): Promise<WireClient> {
  const visitor = await street.client()
  await visitor.request('session/resume', opening(sessionId))
  return visitor
}
