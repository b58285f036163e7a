/** The list of sessions on the wire: live for subscribed clients, and filtered, with open permission requests. */
import { expect, test } from 'vitest'
import type { Fields } from '../../../../../test/e2e/message.ts'
import { quiet } from '../../../../../test/sim/clock.ts'
import { House } from '../../../../../test/sim/house.ts'
import { cleanUp, create, openStreet, prompt } from '../../../../../test/sim/street.ts'
import { options } from '../../../../../test/sim/words.ts'
import type { WireClient } from '../../../../../test/sim/wire-client.ts'

cleanUp()

const watching = { clientCapabilities: { _meta: { 'parley/notifications': ['sessions'] } } }

const listsOf = (client: WireClient): readonly Fields[] => client.all('_parley/sessions')

/** The list as a client has it that takes in every notification. */
function listOf(client: WireClient): ReadonlyMap<unknown, Fields> {
  const rows = new Map<unknown, Fields>()
  for (const { reset, sessions, removed } of listsOf(client)) {
    if (reset === true) rows.clear()
    for (const row of sessions as readonly Fields[]) rows.set(row['sessionId'], row)
    for (const id of (removed ?? []) as readonly string[]) rows.delete(id)
  }
  return rows
}

const asks = async (house: House): Promise<void> => {
  house.agent.script = async (turn) => {
    await turn.ask({ toolCallId: 'c1', patch: { title: 'Delete it' }, options, state: null })
    return 'end_turn'
  }
}

test('a subscribed client gets all sessions, then the changes, without opening any', async () => {
  const street = openStreet()
  await asks(street.house)
  const one = await street.client()
  const first = await create(one)
  const watcher = await street.client(watching)
  await quiet()
  expect(listsOf(watcher)).toMatchObject([
    { reset: true, sessions: [{ sessionId: first, phase: 'idle', unread: false }] },
  ])
  const second = await create(one)
  const ended = one.request('session/prompt', prompt(second, 'Delete'))
  await quiet()
  const waiting = { toolCallId: 'c1', title: 'Delete it', options, count: 1 }
  expect(listOf(watcher).get(second)).toMatchObject({ phase: 'waiting', waiting, agent: 'puppet', title: 'Delete' })
  const asked = one.received.findLast(({ method }) => method === 'session/request_permission')
  one.reply(asked?.id ?? null, { outcome: { outcome: 'selected', optionId: 'reject_once' } })
  await ended
  await quiet()
  const row = listOf(watcher).get(second)
  expect(row).toMatchObject({ phase: 'idle', lastEnd: { stopReason: 'end_turn', seq: row?.['lastSeq'] } })
  expect(row).not.toHaveProperty('waiting')
  await one.request('session/delete', { sessionId: first })
  await quiet()
  expect([...listOf(watcher).keys()]).toEqual([second])
  expect(one.all('_parley/sessions')).toEqual([])
})

test('chunks of a turn are not sent; its end is, once', async () => {
  const street = openStreet()
  const one = await street.client()
  const sessionId = await create(one)
  const watcher = await street.client(watching)
  await quiet()
  await one.request('session/prompt', prompt(sessionId, 'Hi'))
  await quiet()
  const phases = listsOf(watcher).flatMap(({ sessions }) => (sessions as readonly Fields[]).map(({ phase }) => phase))
  expect(phases).toEqual(['idle', 'working', 'idle'])
})

test('a session whose turn ended while no client was attached is unread', async () => {
  const street = openStreet()
  const one = await street.client()
  const sessionId = await create(one)
  const watcher = await street.client(watching)
  await quiet()
  await street.house.clock.advance(1)
  await one.request('session/prompt', prompt(sessionId, 'Hi'))
  await quiet()
  expect(listOf(watcher).get(sessionId)).toMatchObject({ unread: true })
})

test('a list that needs several notifications is complete before later changes are sent', async () => {
  const house = new House()
  for (let number = 0; number < 1_001; number += 1)
    await house.sessions.create({ cwd: '/', additionalDirectories: [], mcpServers: [] })
  const watcher = await openStreet(house).client(watching)
  await quiet()
  expect(listsOf(watcher).map(({ sessions, more }) => [(sessions as readonly unknown[]).length, more])).toEqual([
    [100, true],
    [500, true],
    [401, undefined],
  ])
  expect(listOf(watcher).size).toBe(1_001)
})

test('a server with a token sends no list before authentication, nor after a logout', async () => {
  const street = openStreet(new House(), { token: 'sesame' })
  const watcher = await street.client(watching)
  await quiet()
  expect(listsOf(watcher)).toEqual([])
  await watcher.request('authenticate', { methodId: 'parley-token', _meta: { 'parley/token': 'sesame' } })
  await quiet()
  expect(listsOf(watcher)).toMatchObject([{ reset: true }])
  const other = await street.client({ _meta: { 'parley/token': 'sesame' } })
  await watcher.request('logout', {})
  await create(other)
  await quiet()
  expect(listsOf(watcher)).toHaveLength(1)
})

test('session/list can be filtered, and has the fields of the live list in `_meta`', async () => {
  const street = openStreet()
  await asks(street.house)
  const one = await street.client()
  const idle = await create(one)
  const waits = await create(one)
  void one.request('session/prompt', prompt(waits, 'Delete the disk'))
  await quiet()
  const listed = async (filter: Fields) => {
    const { result, error } = await one.request('session/list', { _meta: { 'parley/filter': filter } })
    return error ?? ((result?.['sessions'] ?? []) as readonly Fields[]).map(({ sessionId }) => sessionId)
  }
  expect(await listed({ phase: 'waiting' })).toEqual([waits])
  expect(await listed({ phase: ['idle', 'working'] })).toEqual([idle])
  expect(await listed({ text: 'DISK' })).toEqual([waits])
  expect(await listed({ agent: 'other' })).toEqual([])
  expect(await listed({ cwdPrefix: '/nowhere' })).toEqual([])
  expect(await listed({ phase: 'asleep' })).toMatchObject({ data: { code: 'PARAMS_INVALID' } })
  const { result } = await one.request('session/list', {})
  const row = ((result?.['sessions'] ?? []) as readonly Fields[]).find(({ sessionId }) => sessionId === waits)
  expect(row?.['_meta']).toMatchObject({
    'parley/phase': 'waiting',
    'parley/agent': 'puppet',
    'parley/waiting': { title: 'Delete it', count: 1 },
    'parley/unread': false,
  })
})
