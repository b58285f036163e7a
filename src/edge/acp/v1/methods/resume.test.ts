/**
 * A client that lost its connection or its server resumes where it was: no update twice, none missing, every prompt
 * answered once.
 */
import { expect, test } from 'vitest'
import type { AgentSession } from '../../../../ports/agent.ts'
import { House } from '../../../../../test/sim/house.ts'
import { quiet } from '../../../../../test/sim/clock.ts'
import { signal, untilCancelled } from '../../../../../test/sim/puppet.ts'
import { cleanUp, create, openStreet, opening, prompt } from '../../../../../test/sim/street.ts'
import { updateIn } from '../../../../../test/e2e/message.ts'
import { text } from '../../../../../test/sim/words.ts'

cleanUp()

const adopt = (promptId: string, requestId: number | string, after?: number) => ({
  _meta: { 'parley/prompts': [{ promptId, requestId }], ...(after === undefined ? {} : { 'parley/after': after }) },
})

test('resume with a cursor: a client gets only what it missed, after the response', async () => {
  const street = openStreet()
  const first = await street.client()
  const sessionId = await create(first)
  await first.request('session/prompt', prompt(sessionId, 'Hello'))
  const seen = first.updates.map(({ seq }) => seq)
  const half = seen[1] ?? 0

  const second = await street.client()
  const { result } = await second.request('session/resume', opening(sessionId, { _meta: { 'parley/after': half } }))
  await second.request('session/list', {})
  await quiet()

  const head = street.house.disk.stored(sessionId)
  expect(result).toEqual({ _meta: { 'parley/seq': head, 'parley/agent': expect.any(String) } })
  const answerAt = second.received.findIndex((message) => message.result === result)
  expect(second.received.slice(0, answerAt).filter(({ method }) => method !== undefined)).toEqual([])
  const missed = first.updates.filter(({ seq }) => seq > half)
  expect(second.updates).toEqual(expect.arrayContaining([...missed]))
  expect(second.updates.every(({ seq }) => seq > half)).toBe(true)
})

test('a load that was cut in the middle, repeated with the last entry that it got, sends the rest before its response', async () => {
  const street = openStreet()
  const first = await street.client()
  const sessionId = await create(first)
  await first.request('session/prompt', prompt(sessionId, 'Hello'))
  const whole = await street.client()
  await whole.request('session/load', opening(sessionId))
  const cut = whole.updates[0]?.seq ?? 0

  const again = await street.client()
  const id = again.ask('session/load', opening(sessionId, { _meta: { 'parley/after': cut } }))
  await again.answerTo(id)

  expect(again.received.at(-1)?.id).toBe(id)
  expect(again.updates).toEqual(whole.updates.filter(({ seq }) => seq > cut))
})

test('the response of a load names the last entry that it has sent, not one that was stored meanwhile', async () => {
  const street = openStreet()
  const { disk } = street.house
  const [ada, bob] = [await street.client(), await street.client()]
  const sessionId = await create(ada)
  await ada.request('session/prompt', prompt(sessionId, 'Hello'))
  const before = disk.stored(sessionId)

  disk.hold()
  const loads = bob.ask('session/load', opening(sessionId))
  await expect.poll(() => disk.waiting).toBe(1)
  ada.ask('session/prompt', prompt(sessionId, 'Again'))
  await expect.poll(() => disk.waiting).toBe(2)
  disk.serve(1)
  await expect.poll(() => disk.stored(sessionId)).toBeGreaterThan(before)
  disk.serve(0)
  expect((await bob.answerTo(loads)).result).toMatchObject({ _meta: { 'parley/seq': before } })
  expect(bob.updates.every(({ seq }) => seq <= before)).toBe(true)

  disk.release()
  await quiet()
  expect(bob.text).toBe('Hello!Hello!')
})

test.each(['session/load', 'session/resume'])('%s refuses a cursor beyond the end', async (method) => {
  const street = openStreet()
  const client = await street.client()
  const sessionId = await create(client)
  const { error } = await client.request(method, opening(sessionId, { _meta: { 'parley/after': 1_000 } }))
  expect(error).toMatchObject({ code: -32602, data: { code: 'CURSOR_BEYOND', after: 1_000 } })
})

test('a running prompt is answered on the connection that adopted it, once, after its last update', async () => {
  const street = openStreet()
  const more = signal()
  street.house.agent.script = async (turn) => {
    await turn.say(text('One, '))
    await more.given
    await turn.say(text('two.'))
    return 'end_turn'
  }
  const first = await street.client()
  const sessionId = await create(first)
  first.ask('session/prompt', prompt(sessionId, 'Count', 'p1'))
  const one = await first.until(
    ({ method, params }) => method === 'session/update' && JSON.stringify(params).includes('One'),
  )
  const after = updateIn(one)?.seq ?? 0
  await first.leave()

  const second = await street.client()
  await second.request('session/resume', opening(sessionId, adopt('p1', 'its 7th', after)))
  more.give()
  const answer = await second.answerTo('its 7th')
  await quiet()

  expect(answer.result).toEqual({ stopReason: 'end_turn' })
  expect(second.received.filter(({ id }) => id === 'its 7th')).toHaveLength(1)
  expect(second.text).toBe('two.')
  expect(second.updates.some(({ update }) => update.sessionUpdate === 'user_message_chunk')).toBe(false)
})

test('a prompt that ended meanwhile is answered with its stop reason, after the entries up to it', async () => {
  const street = openStreet()
  const first = await street.client()
  const sessionId = await create(first)
  await first.request('session/prompt', prompt(sessionId, 'Hello', 'p1'))

  for (const after of [0, street.house.disk.stored(sessionId)]) {
    const client = await street.client()
    await client.request('session/resume', opening(sessionId, adopt('p1', 9, after)))
    const answer = await client.answerTo(9)
    expect(answer.result).toEqual({ stopReason: 'end_turn' })
    expect(client.received.indexOf(answer)).toBeGreaterThan(
      client.received.findLastIndex(({ method }) => method === 'session/update'),
    )
    await quiet()
    expect(client.received.filter(({ id }) => id === 9)).toHaveLength(1)
  }
})

test('a prompt that was never accepted is answered as interrupted', async () => {
  const street = openStreet()
  const client = await street.client()
  const sessionId = await create(client)
  await client.request('session/resume', opening(sessionId, adopt('lost', 'x', 0)))
  const { error } = await client.answerTo('x')
  expect(error?.data).toMatchObject({ code: 'TURN_INTERRUPTED' })
})

test.each([7, '', {}, false])(
  'an invalid prompt id is refused, for the prompt could run twice: %j',
  async (promptId) => {
    const street = openStreet()
    const client = await street.client()
    const sessionId = await create(client)
    const named = { ...prompt(sessionId, 'Hello'), _meta: { 'parley/promptId': promptId } }
    const { error } = await client.request('session/prompt', named)
    expect(error?.data).toMatchObject({ code: 'PARAMS_INVALID' })
    expect(street.house.disk.stored(sessionId)).toBe(1)
  },
)

test('prompts that kill -9 interrupted or left in the queue are answered as interrupted, to every client at any time', async () => {
  const street = openStreet()
  street.house.agent.script = untilCancelled
  const first = await street.client()
  const sessionId = await create(first)
  first.ask('session/prompt', prompt(sessionId, 'Run', 'runs'))
  first.ask('session/prompt', prompt(sessionId, 'Wait', 'waits'))
  await quiet()
  const seen = first.updates.at(-1)?.seq ?? 0

  const house = new House(street.house.disk)
  await house.sessions.recover()
  const next = openStreet(house)
  for (const after of [seen, house.disk.stored(sessionId)]) {
    const client = await next.client()
    const prompts = [
      { promptId: 'runs', requestId: 1_001 },
      { promptId: 'waits', requestId: 1_002 },
    ]
    const meta = { 'parley/after': after, 'parley/prompts': prompts }
    await client.request('session/resume', opening(sessionId, { _meta: meta }))
    for (const { requestId } of prompts) {
      const { error } = await client.answerTo(requestId)
      expect(error?.data).toMatchObject({ code: 'TURN_INTERRUPTED' })
    }
  }
})

test('the prompt of a suspended turn stays open and is answered once its permission is answered', async () => {
  const street = openStreet()
  street.house.agent.script = async (turn) => {
    if (turn.resumed !== undefined) return 'end_turn'
    await turn.ask({
      toolCallId: 'c1',
      patch: { title: 'Delete' },
      options: [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }],
      state: 1,
    })
    return 'refusal'
  }
  const first = await street.client()
  const sessionId = await create(first)
  first.ask('session/prompt', prompt(sessionId, 'Delete', 'p1'))
  await first.until(({ method }) => method === 'session/request_permission')
  const seen = first.updates.at(-1)?.seq ?? 0

  const house = new House(street.house.disk)
  house.agent.script = street.house.agent.script
  await house.sessions.recover()
  const client = await openStreet(house).client()
  await client.request('session/resume', opening(sessionId, adopt('p1', 77, seen)))
  const question = await client.until(({ method }) => method === 'session/request_permission')
  expect(client.received.some(({ id }) => id === 77)).toBe(false)
  client.send({ id: question.id, result: { outcome: { outcome: 'selected', optionId: 'yes' } } })
  expect((await client.answerTo(77)).result).toEqual({ stopReason: 'end_turn' })
})

test('a notice that an agent posts while its session is being created or opened reaches the client, after the response', async () => {
  const opened = (session: AgentSession) => void session.notice(session.isNew ? 'made' : 'opened')
  const house = new House()
  house.agents.named('puppet').opened = opened
  const first = await openStreet(house).client()
  const sessionId = await create(first)
  await quiet()
  expect(first.text).toBe('made')
  expect(first.received.findIndex(({ result }) => result?.['sessionId'] === sessionId)).toBeLessThan(
    first.received.findIndex((message) => updateIn(message)?.update.sessionUpdate === 'agent_message_chunk'),
  )

  const next = new House(house.disk)
  next.agents.named('puppet').opened = opened
  const second = await openStreet(next).client()
  await second.request('session/resume', opening(sessionId))
  await quiet()
  expect(second.text).toBe('opened')
})
