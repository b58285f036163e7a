/** Several plain ACP clients on one session: each sees the actions of the others, and none is affected by another's failure. */
import { describe, expect, test } from 'vitest'
import { type Fields, type Message, updateIn } from '../../../../../test/e2e/message.ts'
import { quiet } from '../../../../../test/sim/clock.ts'
import { signal, untilCancelled } from '../../../../../test/sim/puppet.ts'
import { type Street, cleanUp, create, openStreet, opening, prompt } from '../../../../../test/sim/street.ts'
import type { WireClient } from '../../../../../test/sim/wire-client.ts'
import { text } from '../../../../../test/sim/words.ts'

cleanUp()

/** A client that creates a session, and another that loads it. */
async function two(
  street: Street,
  more: Fields = {},
): Promise<{ ada: WireClient; bob: WireClient; sessionId: string }> {
  const ada = await street.client()
  const bob = await street.client()
  const sessionId = await create(ada, more)
  await bob.request('session/load', opening(sessionId, more))
  await quiet()
  return { ada, bob, sessionId }
}

/** Every turn runs until the returned function is called. */
function turnsWait(street: Street) {
  const go = signal()
  street.house.agent.script = async () => {
    await go.given
    return 'end_turn'
  }
  return go
}

const kinds = (client: WireClient) => client.updates.map(({ update }) => update.sessionUpdate)
const seqs = (client: WireClient) => client.updates.map(({ seq }) => seq)
const phases = (client: WireClient) =>
  client.updates.flatMap(({ update }) => (update['_meta'] as Fields | undefined)?.['parley/phase'] ?? [])

describe('a prompt of one client', () => {
  test('is sent with its text to the other clients, and without it to its sender', async () => {
    const { ada, bob, sessionId } = await two(openStreet())
    await ada.request('session/prompt', prompt(sessionId, 'Hello'))
    await quiet()
    expect(kinds(ada)).not.toContain('user_message_chunk')
    expect(kinds(bob)).toEqual(expect.arrayContaining(['user_message_chunk', 'agent_message_chunk']))
    expect(bob.text).toBe(ada.text)
  })

  test('is queued behind a prompt sent at the same time, and both end', async () => {
    const { ada, bob, sessionId } = await two(openStreet())
    const answers = [ada, bob].map((one) => one.request('session/prompt', prompt(sessionId, 'Hello')))
    expect((await Promise.all(answers)).map(({ result }) => result)).toEqual([
      { stopReason: 'end_turn' },
      { stopReason: 'end_turn' },
    ])
  })
})

describe('session/cancel', () => {
  test('by any client ends the running turn, and withdraws only the queued prompts of that client', async () => {
    const street = openStreet()
    street.house.agent.script = untilCancelled
    const { ada, bob, sessionId } = await two(street)
    const runs = ada.ask('session/prompt', prompt(sessionId, 'Run'))
    await quiet()
    const waits = ada.ask('session/prompt', prompt(sessionId, 'Wait'))
    const mine = bob.ask('session/prompt', prompt(sessionId, 'Wait too'))
    await quiet()

    bob.notify('session/cancel', { sessionId })
    expect((await ada.answerTo(runs)).result).toEqual({ stopReason: 'cancelled' })
    expect((await bob.answerTo(mine)).result).toEqual({ stopReason: 'cancelled' })
    expect(street.house.agent.turns).toHaveLength(2)
    expect(ada.received.some(({ id }) => id === waits)).toBe(false)
  })
})

describe('$/cancel_request', () => {
  test('withdraws a queued prompt, and nothing else', async () => {
    const street = openStreet()
    street.house.agent.script = untilCancelled
    const { ada, bob, sessionId } = await two(street)
    const runs = ada.ask('session/prompt', prompt(sessionId, 'Run'))
    await quiet()
    const waits = bob.ask('session/prompt', prompt(sessionId, 'Wait'))
    await quiet()
    bob.notify('$/cancel_request', { requestId: waits })
    expect((await bob.answerTo(waits)).result).toEqual({ stopReason: 'cancelled' })
    expect(ada.received.some(({ id }) => id === runs)).toBe(false)
  })
})

describe('a connection that drops', () => {
  test('detaches the client: the turn continues, and so do the client’s queued prompts', async () => {
    const street = openStreet()
    const go = signal()
    street.house.agent.script = async (turn) => {
      await go.given
      await turn.say(text(`${turn.turnId} `))
      return 'end_turn'
    }
    const { ada, bob, sessionId } = await two(street)
    ada.ask('session/prompt', prompt(sessionId, 'First'))
    ada.ask('session/prompt', prompt(sessionId, 'Second'))
    await quiet()
    await ada.leave()
    go.give()
    await bob.until((message) => JSON.stringify(updateIn(message) ?? '').includes('t2 '))
    expect(bob.text).toBe('t1 t2 ')
  })
})

test('a cancel before a queued prompt of another client: all see the end of the turn, then that prompt once', async () => {
  const street = openStreet()
  street.house.agent.script = untilCancelled
  const wanted = { clientCapabilities: { _meta: { 'parley/notifications': ['turn', 'queue'] } } }
  const ada = await street.client(wanted)
  const bob = await street.client(wanted)
  const sessionId = await create(ada)
  await bob.request('session/resume', opening(sessionId))
  const first = ada.ask('session/prompt', prompt(sessionId, 'First', 'p-1'))
  await quiet()
  bob.ask('session/prompt', prompt(sessionId, 'Second', 'p-2'))
  await quiet()
  ada.notify('session/cancel', { sessionId })
  await ada.answerTo(first)
  await quiet()
  const isWords = (words: string) => (message: Message) => JSON.stringify(updateIn(message) ?? '').includes(words)
  const place = (client: WireClient, fits: (message: Message) => boolean) => client.received.findIndex(fits)
  const isTurn = (phase: string) => (message: Message) =>
    message.method === '_parley/turn' && message.params?.['phase'] === phase
  expect(ada.received.filter(isWords('Second'))).toHaveLength(1)
  expect(place(ada, ({ id, method }) => id === first && method === undefined)).toBeLessThan(
    place(ada, isWords('Second')),
  )
  for (const client of [ada, bob]) expect(place(client, isTurn('cancelling'))).toBeGreaterThan(0)
  expect(place(ada, isTurn('cancelling'))).toBeLessThan(place(ada, isWords('Second')))
})

describe('session/close by one client', () => {
  test('cancels the prompts of all clients, notifies all, and refuses prompts after that', async () => {
    const street = openStreet()
    street.house.agent.script = untilCancelled
    const { ada, bob, sessionId } = await two(street)
    const runs = ada.ask('session/prompt', prompt(sessionId, 'Run'))
    const waits = bob.ask('session/prompt', prompt(sessionId, 'Wait'))
    await quiet()

    const carl = await street.client()
    expect((await carl.request('session/close', { sessionId })).result).toEqual({})
    expect((await ada.answerTo(runs)).result).toEqual({ stopReason: 'cancelled' })
    expect((await bob.answerTo(waits)).result).toEqual({ stopReason: 'cancelled' })
    expect([ada, bob].map(phases)).toEqual([['closed'], ['closed']])
    for (const client of [ada, carl]) {
      const { error } = await client.request('session/prompt', prompt(sessionId, 'Still there?'))
      expect(error?.data).toMatchObject({ code: 'SESSION_CLOSED' })
    }
  })

  test('twice closes once', async () => {
    const { ada, bob, sessionId } = await two(openStreet())
    const answers = [ada, bob, ada].map((one) => one.request('session/close', { sessionId }))
    expect((await Promise.all(answers)).map(({ result }) => result)).toEqual([{}, {}, {}])
    expect(phases(bob)).toEqual(['closed'])
  })

  test('keeps the session: a client that loads it gets the conversation, and nothing about the close', async () => {
    const street = openStreet()
    const { ada, bob, sessionId } = await two(street)
    await ada.request('session/prompt', prompt(sessionId, 'Hello'))
    await ada.request('session/close', { sessionId })
    const carl = await street.client()
    await carl.request('session/load', opening(sessionId))
    expect(carl.text).toBe('Hello!')
    expect(phases(carl)).toEqual([])
    await bob.request('session/resume', opening(sessionId))
    const { result } = await bob.request('session/prompt', prompt(sessionId, 'Again'))
    expect(result).toEqual({ stopReason: 'end_turn' })
  })

  test('and a load by another client: attached clients see every entry once and can prompt again', async () => {
    const street = openStreet()
    const { ada, bob, sessionId } = await two(street)
    await ada.request('session/prompt', prompt(sessionId, 'Hello'))
    await ada.request('session/close', { sessionId })
    const carl = await street.client()
    await carl.request('session/load', opening(sessionId))
    await carl.request('session/prompt', prompt(sessionId, 'Again'))
    await quiet()
    expect(phases(bob)).toEqual(['closed', 'idle'])
    expect(bob.text).toBe('Hello!Hello!')
    expect(seqs(bob)).toEqual([...new Set(seqs(bob))].toSorted((a, b) => a - b))
    expect(phases(ada)).toEqual(['closed'])
    const { result } = await bob.request('session/prompt', prompt(sessionId, 'And I'))
    expect(result).toEqual({ stopReason: 'end_turn' })
  })

  test('while a slow client is lagging: it gets every entry before and after', async () => {
    const street = openStreet()
    const { ada, bob, sessionId } = await two(street)
    bob.stall()
    await ada.request('session/prompt', prompt(sessionId, 'Hello'))
    await ada.request('session/close', { sessionId })
    await ada.request('session/load', opening(sessionId))
    await ada.request('session/prompt', prompt(sessionId, 'Again'))
    bob.readOn()
    await quiet()
    expect(bob.text).toBe('Hello!Hello!')
  })
})

test('a session that another writer has taken is closed for its clients, until a client opens it again', async () => {
  const street = openStreet()
  street.house.agent.script = untilCancelled
  const { ada, bob, sessionId } = await two(street)
  street.house.disk.trouble = 'conflict'
  const lost = await ada.request('session/prompt', prompt(sessionId, 'Mine'))
  expect(lost.error?.data).toMatchObject({ code: 'JOURNAL_CONFLICT' })
  street.house.disk.trouble = 'none'
  expect(phases(bob)).toEqual(['closed'])
  const refused = await bob.request('session/prompt', prompt(sessionId, 'And mine?'))
  expect(refused.error?.data).toMatchObject({ code: 'SESSION_CLOSED' })
  await ada.request('session/load', opening(sessionId))
  await quiet()
  expect(phases(bob)).toEqual(['closed', 'idle'])
})

test('a queued prompt is answered when the journal is found to be damaged', async () => {
  const street = openStreet()
  street.house.agent.script = untilCancelled
  const { ada, bob, sessionId } = await two(street)
  const runs = ada.ask('session/prompt', prompt(sessionId, 'Run'))
  await quiet()
  const waits = bob.ask('session/prompt', prompt(sessionId, 'After that'))
  await quiet()
  street.house.disk.trouble = 'damaged'
  ada.notify('session/cancel', { sessionId })
  await street.house.clock.advance(10_000)
  expect((await ada.answerTo(runs)).error?.data).toMatchObject({ code: 'JOURNAL_CORRUPT' })
  expect((await bob.answerTo(waits)).error?.data).toMatchObject({ code: 'JOURNAL_CORRUPT' })
  expect(phases(bob).at(-1)).toBe('closed')
})

describe('session/delete by one client', () => {
  test('cancels the prompts of all clients, notifies all, and removes the session', async () => {
    const street = openStreet()
    street.house.agent.script = untilCancelled
    const { ada, bob, sessionId } = await two(street)
    const runs = bob.ask('session/prompt', prompt(sessionId, 'Run'))
    await quiet()
    expect((await ada.request('session/delete', { sessionId })).result).toEqual({})
    expect((await bob.answerTo(runs)).result).toEqual({ stopReason: 'cancelled' })
    await quiet()
    expect(phases(bob).at(-1)).toBe('deleted')
    for (const method of ['session/prompt', 'session/load']) {
      const params = method === 'session/load' ? opening(sessionId) : prompt(sessionId, 'Hello?')
      expect((await bob.request(method, params)).error?.data).toMatchObject({ code: 'SESSION_NOT_FOUND' })
    }
  })
})

describe('directories and MCP servers that a client declares', () => {
  const server = (name: string, command = 'true') => ({ name, command, args: [], env: [] })
  const names = (street: Street) =>
    [...street.house.tools.current].map(({ servers }) => servers.map(({ name }) => name))

  test('hold for its own prompts, also when they were queued and the client has left', async () => {
    const street = openStreet()
    const go = turnsWait(street)
    const ada = await street.client()
    const bob = await street.client()
    const sessionId = await create(ada, { additionalDirectories: ['/tmp'] })
    await bob.request('session/load', opening(sessionId, { additionalDirectories: ['/usr'] }))
    const last = bob.ask('session/prompt', prompt(sessionId, 'One'))
    await quiet()
    ada.ask('session/prompt', prompt(sessionId, 'Two'))
    await quiet()
    await ada.leave()
    go.give()
    await bob.answerTo(last)
    await bob.request('session/prompt', prompt(sessionId, 'Three'))
    expect(street.house.agent.turns.map(({ roots }) => roots)).toEqual([
      ['/', '/usr'],
      ['/', '/tmp'],
      ['/', '/usr'],
    ])
  })

  test('are merged by server name: an empty list removes nothing, and the newer of two entries with one name counts', async () => {
    const street = openStreet()
    const { sessionId } = await two(street, { mcpServers: [server('docs')] })
    const carl = await street.client()
    await carl.request('session/load', opening(sessionId))
    expect(names(street)).toEqual([['docs']])
    const dora = await street.client()
    await dora.request('session/resume', opening(sessionId, { mcpServers: [server('files'), server('docs', 'false')] }))
    const [request] = street.house.tools.current
    expect(request?.servers).toMatchObject([{ name: 'docs', command: 'false' }, { name: 'files' }])
  })

  test('are at most a hundred servers, alone or with the other clients’; more are refused without a change', async () => {
    const street = openStreet()
    const some = (word: string, count: number) => Array.from({ length: count }, (_, n) => server(`${word}${n}`))
    const ada = await street.client()
    const alone = await ada.request('session/new', { cwd: '/', mcpServers: some('a', 101) })
    expect(alone.error?.message).toContain('must name at most 100 servers')
    const sessionId = await create(ada, { mcpServers: some('a', 60) })
    const bob = await street.client()
    const together = await bob.request('session/load', opening(sessionId, { mcpServers: some('b', 60) }))
    expect(together.error).toMatchObject({ data: { code: 'SERVERS_TOO_MANY' } })
    expect(names(street).map((all) => all.length)).toEqual([60])
    const fewer = await bob.request('session/load', opening(sessionId, { mcpServers: some('b', 40) }))
    expect(fewer.error).toBeUndefined()
    expect(names(street).map((all) => all.length)).toEqual([100])
  })

  test.each(['session/load', 'session/resume'])(
    'are counted without those that the same client replaces with %s',
    async (method) => {
      const street = openStreet()
      const some = (word: string) => Array.from({ length: 60 }, (_, n) => server(`${word}${n}`))
      const ada = await street.client()
      const sessionId = await create(ada, { mcpServers: some('a') })
      const again = await ada.request(method, opening(sessionId, { mcpServers: some('b') }))
      expect(again.error).toBeUndefined()
      expect(names(street)).toEqual([some('b').map(({ name }) => name)])
    },
  )

  test('do not accumulate, and never block attached clients', async () => {
    const street = openStreet()
    const ada = await street.client()
    const sessionId = await create(ada, { mcpServers: [server('first')] })
    await ada.leave()
    for (const word of ['b', 'c']) {
      const next = await street.client()
      const mcpServers = Array.from({ length: 60 }, (_, n) => server(`${word}${n}`))
      expect((await next.request('session/load', opening(sessionId, { mcpServers }))).error).toBeUndefined()
      expect(names(street).map((all) => all.length)).toEqual([word === 'b' ? 61 : 100])
      await next.leave()
    }
    expect(names(street)).toEqual([Array.from({ length: 60 }, (_, n) => `c${n}`)])
  })

  test('do not change the tools of the running turn', async () => {
    const street = openStreet()
    const go = turnsWait(street)
    const { ada, bob, sessionId } = await two(street, { mcpServers: [server('docs')] })
    const runs = ada.ask('session/prompt', prompt(sessionId, 'Run'))
    await quiet()
    await bob.request('session/load', opening(sessionId, { mcpServers: [server('docs', 'false')] }))
    expect(names(street)).toEqual([['docs'], ['docs']])
    go.give()
    await ada.answerTo(runs)
    await quiet()
    expect(street.house.tools.running).toBe(1)
  })

  test('are removed when it leaves, but not from its own running prompt', async () => {
    const street = openStreet()
    const go = turnsWait(street)
    const ada = await street.client()
    const bob = await street.client()
    const sessionId = await create(ada, { mcpServers: [server('docs')] })
    await bob.request('session/load', opening(sessionId, { mcpServers: [server('files')] }))
    ada.ask('session/prompt', prompt(sessionId, 'Run'))
    await quiet()
    const last = bob.ask('session/prompt', prompt(sessionId, 'And then'))
    await ada.leave()
    expect(names(street)).toEqual([['docs', 'files']])
    go.give()
    await bob.answerTo(last)
    await quiet()
    expect(names(street)).toEqual([['files']])
  })

  test('stay while no client is attached, for the next client that names none', async () => {
    const street = openStreet()
    const ada = await street.client()
    const sessionId = await create(ada, { mcpServers: [server('docs')] })
    await ada.leave()
    const bob = await street.client()
    await bob.request('session/load', opening(sessionId))
    expect(names(street)).toEqual([['docs']])
    expect(street.house.tools.opened).toHaveLength(1)
  })

  test('are dropped when its request is refused', async () => {
    const street = openStreet()
    const { bob, sessionId } = await two(street)
    const beyond = { mcpServers: [server('docs')], _meta: { 'parley/after': 1_000 } }
    await bob.request('session/load', opening(sessionId, beyond))
    await quiet()
    expect(names(street)).toEqual([[]])
  })
})

describe('a session that has had no client for a minute', () => {
  test('is unloaded with its tools, and loads again completely', async () => {
    const street = openStreet()
    const { ada, bob, sessionId } = await two(street)
    await ada.request('session/prompt', prompt(sessionId, 'Hello'))
    await ada.leave()
    await street.house.clock.advance(120_000)
    expect(street.house.tools.running).toBe(1)

    await bob.leave()
    await street.house.clock.advance(59_000)
    expect(street.house.tools.running).toBe(1)
    await street.house.clock.advance(1_000)
    expect(street.house.tools.running).toBe(0)
    expect(street.house.sessions.counts().sessions).toBe(0)

    const carl = await street.client()
    await carl.request('session/load', opening(sessionId))
    expect(carl.text).toBe('Hello!')
    expect((await carl.request('session/prompt', prompt(sessionId, 'Again'))).result).toEqual({
      stopReason: 'end_turn',
    })
  })

  test('is not unloaded while a turn runs', async () => {
    const street = openStreet()
    street.house.agent.script = untilCancelled
    const ada = await street.client()
    const sessionId = await create(ada)
    ada.ask('session/prompt', prompt(sessionId, 'Run'))
    await quiet()
    await ada.leave()
    await street.house.clock.advance(600_000)
    expect(street.house.sessions.counts().working).toBe(1)
  })

  test('and is opened while it is unloaded has one writer', async () => {
    const street = openStreet()
    const { house } = street
    const ada = await street.client()
    const sessionId = await create(ada)
    await ada.leave()
    const bob = await street.client()
    const resting = house.clock.advance(60_000)
    const loaded = bob.request('session/load', opening(sessionId))
    await Promise.all([resting, loaded])
    const { result } = await bob.request('session/prompt', prompt(sessionId, 'Hello'))
    expect(result).toEqual({ stopReason: 'end_turn' })
    expect(house.sessions.counts().sessions).toBe(1)
    expect(house.reported).toEqual([])
  })
})
