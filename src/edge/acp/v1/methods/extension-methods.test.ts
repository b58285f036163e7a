/** Methods beyond ACP that any ACP client may call for any session, on the wire. */
import { describe, expect, test } from 'vitest'
import type { Fields } from '../../../../../test/e2e/message.ts'
import { quiet } from '../../../../../test/sim/clock.ts'
import { House } from '../../../../../test/sim/house.ts'
import { untilCancelled } from '../../../../../test/sim/puppet.ts'
import { cleanUp, create, openStreet, opening, prompt } from '../../../../../test/sim/street.ts'
import type { WireClient } from '../../../../../test/sim/wire-client.ts'
import { text } from '../../../../../test/sim/words.ts'

cleanUp()

const titles = (client: WireClient) => client.updates.flatMap(({ update }) => update['title'] ?? [])

test('initialize advertises the extension methods', async () => {
  const client = await openStreet().client()
  const names = [
    'page',
    'outline',
    'export',
    'files',
    'directories',
    'seen',
    'answer',
    'withdraw',
    'promote',
    'ping',
    'rename',
    'fork',
    'revoke',
    'force_cancel',
    'release',
  ]
  expect(client.received[0]?.result).toMatchObject({
    agentCapabilities: { _meta: { parley: { methods: names.map((name) => `_parley/${name}`) } } },
  })
})

describe('_parley/rename', () => {
  test('needs no attachment, and every attached client sees the new title', async () => {
    const street = openStreet()
    const [one, two, stranger] = [await street.client(), await street.client(), await street.client()]
    const sessionId = await create(one)
    await two.request('session/resume', opening(sessionId))
    const { result } = await stranger.request('_parley/rename', { sessionId, title: 'A better\nname' })
    await quiet()
    expect(result).toEqual({})
    expect([one, two, stranger].map(titles)).toEqual([['A better name'], ['A better name'], []])
  })

  test.each([
    [{ title: '' }, 'TITLE_INVALID'],
    [{ title: 'x'.repeat(201) }, 'TITLE_INVALID'],
    [{ title: 5 }, 'PARAMS_INVALID'],
    [{}, 'PARAMS_INVALID'],
    [{ title: 'x', sessionId: 's-9' }, 'SESSION_NOT_FOUND'],
  ])('with %j is refused as %s', async (params, code) => {
    const client = await openStreet().client()
    const sessionId = await create(client)
    const { error } = await client.request('_parley/rename', { sessionId, ...params })
    expect(error?.data).toMatchObject({ code })
  })
})

describe.each(['_parley/force_cancel', '_parley/release'])('%s', (method) => {
  test('ends no process where the agent has none, and refuses an unknown session', async () => {
    const client = await openStreet().client()
    const sessionId = await create(client)
    expect((await client.request(method, { sessionId })).result).toEqual({ ended: false })
    const { error } = await client.request(method, { sessionId: 's-9' })
    expect(error?.data).toMatchObject({ code: 'SESSION_NOT_FOUND' })
  })
})

test('a forced cancel ends the turn for all clients; a release leaves it alone', async () => {
  const street = openStreet()
  street.house.agent.script = untilCancelled
  const [one, other] = [await street.client(), await street.client()]
  const sessionId = await create(one)
  const id = one.ask('session/prompt', prompt(sessionId, 'Hello'))
  await quiet()
  expect((await other.request('_parley/release', { sessionId })).result).toEqual({ ended: false })
  await other.request('_parley/force_cancel', { sessionId })
  expect((await one.answerTo(id)).result).toMatchObject({ stopReason: 'cancelled' })
})

describe('_parley/fork', () => {
  test('in mid-turn gives a session that loads whole and continues; the source does not change', async () => {
    const street = openStreet()
    street.house.agent.script = async (turn) => {
      await turn.say(text('Half an answer'))
      return untilCancelled(turn)
    }
    const client = await street.client()
    const sessionId = await create(client)
    const asked = client.ask('session/prompt', prompt(sessionId, 'What is it?', 'p1'))
    await quiet()

    const other = await street.client()
    const { result } = await other.request('_parley/fork', { sessionId })
    const forkId = String(result?.['sessionId'])
    await other.request('session/load', opening(forkId))
    const told = other.updates.filter((update) => update.sessionId === forkId).map(({ update }) => update)
    expect(told).toMatchObject([
      { content: { text: 'What is it?' } },
      { content: { text: 'Half an answer' } },
      { _meta: { 'parley/forkedFrom': { sessionId } } },
      { content: { text: expect.stringMatching(/^Interrupted: this session was forked/u) } },
      { title: 'Fork of What is it?' },
    ])

    street.house.agent.script = async (turn) => {
      await turn.say(text('Another answer'))
      return 'end_turn'
    }
    expect((await other.request('session/prompt', prompt(forkId, 'And?'))).result).toEqual({ stopReason: 'end_turn' })
    expect((await other.request('session/prompt', prompt(forkId, 'Once more', 'p1'))).error?.data).toMatchObject({
      code: 'TURN_INTERRUPTED',
    })
    client.notify('session/cancel', { sessionId })
    expect((await client.answerTo(asked)).result).toEqual({ stopReason: 'cancelled' })
    expect(client.updates.filter((update) => update.sessionId !== sessionId)).toEqual([])
  })

  test.each([
    [{ at: 0 }, 'FORK_POINT_UNKNOWN'],
    [{ at: 99 }, 'FORK_POINT_UNKNOWN'],
    [{ at: 1.5 }, 'FORK_POINT_UNKNOWN'],
    [{ at: 'end' }, 'PARAMS_INVALID'],
    [{ sessionId: 's-9' }, 'SESSION_NOT_FOUND'],
  ])('with %j is refused as %s', async (params, code) => {
    const client = await openStreet().client()
    const sessionId = await create(client)
    const { error } = await client.request('_parley/fork', { sessionId, ...params })
    expect(error?.data).toMatchObject({ code })
  })
})

describe('an agent that a client names', () => {
  function houseOfTwo(house = new House()) {
    house.agents.named('script:/other').script = async (turn) => {
      await turn.say(text('other'))
      return 'end_turn'
    }
    return house
  }

  const naming = (agent: unknown, more: Fields = {}) => ({ _meta: { 'parley/agent': agent, ...more } })

  test('answers in the sessions that the client creates, and in no others', async () => {
    const street = openStreet(houseOfTwo())
    const [plain, other] = [await street.client(), await street.client(naming('script:/other'))]
    for (const client of [plain, other]) await client.request('session/prompt', prompt(await create(client), 'Hi'))
    expect([plain.text, other.text]).toEqual(['Hello!', 'other'])
  })

  test('for one session alone is that session’s, whatever the connection named', async () => {
    const client = await openStreet(houseOfTwo()).client()
    const { result } = await client.request('session/new', { cwd: '/', mcpServers: [], ...naming('script:/other') })
    const { sessionId, _meta } = result as { sessionId: string; _meta: Fields }
    expect(_meta['parley/agent']).toBe('script:/other')
    for (const id of [sessionId, await create(client)]) await client.request('session/prompt', prompt(id, 'Hi'))
    expect(client.text).toBe('otherHello!')
  })

  test('does not change the agent of an existing session, unless a user chose it', async () => {
    const street = openStreet(houseOfTwo())
    const sessionId = await create(await street.client())
    const passing = await street.client(naming('script:/other'))
    await passing.request('session/resume', opening(sessionId))
    await passing.request('session/prompt', prompt(sessionId, 'Hi'))
    const choosing = await street.client(naming('script:/other', { 'parley/agentChosen': true }))
    const keeping = { ...opening(sessionId), _meta: { 'parley/agentChosen': false } }
    const { result } = await choosing.request('session/resume', keeping)
    expect(result).toMatchObject(naming('puppet'))
    await choosing.request('session/resume', opening(sessionId))
    await choosing.request('session/prompt', prompt(sessionId, 'Hi'))
    expect([passing.text, choosing.text]).toEqual(['Hello!other', 'other'])
  })

  test('that does not exist is refused with the session, not with initialize', async () => {
    const client = await openStreet(houseOfTwo()).client(naming('script:/nowhere'))
    expect(client.received[0]?.error).toBeUndefined()
    const { error } = await client.request('session/new', { cwd: '/', mcpServers: [] })
    expect(error).toMatchObject({ code: -32602, data: { code: 'AGENT_UNKNOWN', agent: 'script:/nowhere' } })
  })

  test.each([naming(5), naming('puppet', { 'parley/agentChosen': 'yes' })])('cannot be %j', async (params) => {
    const client = await openStreet().client(params)
    expect(client.received[0]?.error).toMatchObject({ code: -32602, data: { code: 'PARAMS_INVALID' } })
  })
})
