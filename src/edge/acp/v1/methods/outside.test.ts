/** Methods for sessions that the client has not opened: answer a request, change the queue, mark the end as seen. */
import { describe, expect, test } from 'vitest'
import type { Fields } from '../../../../../test/e2e/message.ts'
import { quiet } from '../../../../../test/sim/clock.ts'
import { House } from '../../../../../test/sim/house.ts'
import { type Script, answerIn, untilCancelled } from '../../../../../test/sim/puppet.ts'
import { type Street, cleanUp, create, openStreet, prompt } from '../../../../../test/sim/street.ts'
import { options, text } from '../../../../../test/sim/words.ts'
import { SeenMarks, type StoredMarks } from '../../../seen-marks.ts'

cleanUp()

const asks: Script = async (turn) => {
  const outcome =
    answerIn(turn) ?? (await turn.ask({ toolCallId: 'c1', patch: { title: 'Delete it' }, options, state: null }))
  await turn.say(text(outcome.outcome === 'selected' ? outcome.kind : 'no'))
  return 'end_turn'
}

/** A session whose turn waits for an answer, and the id of the question. */
async function waiting(street: Street) {
  street.house.agent.script = asks
  const one = await street.client({ clientInfo: { name: 'editor', version: '1' } })
  const sessionId = await create(one)
  void one.request('session/prompt', prompt(sessionId, 'Delete'))
  await quiet()
  const [row] = await street.house.sessions.list({ limit: 1 })
  return { one, sessionId, requestId: row?.standing?.waiting?.requestId ?? '' }
}

const yes = { outcome: 'selected', optionId: 'allow_once', kind: 'allow_once' }

describe('_parley/answer', () => {
  test('needs no attachment; the first answer counts, and later ones get it as their result', async () => {
    const street = openStreet()
    const { one, sessionId, requestId } = await waiting(street)
    const [phone, page] = [
      await street.client({ clientInfo: { name: 'phone', version: '1' } }),
      await street.client({ clientInfo: { name: 'page', version: '1' } }),
    ]
    const first = await phone.request('_parley/answer', { sessionId, requestId, optionId: 'allow_once' })
    expect(first.result).toEqual({ counted: true, outcome: yes, by: 'phone' })
    await quiet()
    expect(one.text).toBe('allow_once')
    const late = await page.request('_parley/answer', { sessionId, requestId, optionId: 'reject_once' })
    expect(late.result).toEqual({ counted: false, outcome: yes, by: 'phone' })
    const again = await phone.request('_parley/answer', { sessionId, requestId, optionId: 'allow_once' })
    expect(again.result).toEqual(first.result)
  })

  test('of a session that a restart suspended resumes its turn', async () => {
    const street = openStreet()
    const { sessionId, requestId } = await waiting(street)
    const next = new House(street.house.disk)
    next.agent.script = asks
    await next.sessions.recover()
    expect((await next.sessions.find(sessionId))?.phase).toBe('suspended')
    const phone = await openStreet(next).client({ clientInfo: { name: 'phone', version: '1' } })
    const { result } = await phone.request('_parley/answer', { sessionId, requestId, optionId: 'reject_once' })
    expect(result).toMatchObject({ counted: true, outcome: { optionId: 'reject_once' }, by: 'phone' })
    await quiet()
    expect((await next.sessions.find(sessionId))?.standing?.lastEnd).toMatchObject({ stopReason: 'end_turn' })
  })

  test.each([
    [{ requestId: 'none' }, 'PERMISSION_UNKNOWN'],
    [{ optionId: 'maybe' }, 'PERMISSION_OPTION_UNKNOWN'],
    [{ sessionId: 's-9' }, 'SESSION_NOT_FOUND'],
    [{ optionId: 5 }, 'PARAMS_INVALID'],
  ])('with %j is refused as %s, and nothing is answered', async (params, code) => {
    const street = openStreet()
    const { one, sessionId, requestId } = await waiting(street)
    const { error } = await one.request('_parley/answer', { sessionId, requestId, optionId: 'allow_once', ...params })
    expect(error?.data).toMatchObject({ code })
    expect((await street.house.sessions.find(sessionId))?.phase).toBe('waiting')
  })
})

describe('the prompt queue', () => {
  const remote = { transport: 'websocket', isLocalUser: false, role: 'prompt' } as const

  async function queued() {
    const street = openStreet()
    street.house.agent.script = untilCancelled
    const one = await street.client()
    const sessionId = await create(one)
    const ends = ['p1', 'p2', 'p3'].map((id) => one.request('session/prompt', prompt(sessionId, id, id)))
    await quiet()
    return { street, one, sessionId, ends }
  }

  test('can be changed by other clients: a prompt withdrawn, another one moved to the front', async () => {
    const { street, sessionId, ends } = await queued()
    const other = await street.client()
    const ask = async (method: string, params: Fields) => (await other.request(method, { sessionId, ...params })).result
    expect(await ask('_parley/promote', { promptId: 'p3', now: true })).toEqual({ promoted: true })
    expect((await ends[0])?.result).toEqual({ stopReason: 'cancelled' })
    await quiet()
    expect(street.house.agent.turns.map((turn) => turn.prompt)).toEqual([[text('p1')], [text('p3')]])
    expect(await ask('_parley/withdraw', { promptId: 'p2' })).toEqual({ withdrawn: true })
    expect((await ends[1])?.result).toEqual({ stopReason: 'cancelled' })
    expect(await ask('_parley/withdraw', { promptId: 'p3' })).toEqual({ withdrawn: false })
    expect(await ask('_parley/promote', { promptId: 'p2' })).toEqual({ promoted: false })
    // A client that lost its connection repeats the request: it gets the same answer, and nothing more happens.
    expect(await ask('_parley/withdraw', { promptId: 'p2' })).toEqual({ withdrawn: true })
    expect(await ask('_parley/promote', { promptId: 'p3', now: true })).toEqual({ promoted: true })
    await quiet()
    expect(street.house.agent.turns).toHaveLength(2)
  })

  test('with the role prompt only its own prompts are withdrawn', async () => {
    const { street, sessionId } = await queued()
    const other = await street.client({}, { principal: { ...remote, name: 'ci' } })
    const { error } = await other.request('_parley/withdraw', { sessionId, promptId: 'p2' })
    expect(error?.data).toMatchObject({ code: 'ROLE_TOO_LOW', needed: 'approve' })
    const adopted = { 'parley/prompts': [{ requestId: 9, promptId: 'p2' }] }
    const claim = await other.request('session/resume', { sessionId, cwd: '/', _meta: adopted })
    expect(claim.error?.data).toMatchObject({ code: 'ROLE_TOO_LOW' })
  })

  test('can be changed once by a client that reconnects for its own prompt', async () => {
    const { street, sessionId } = await queued()
    const principal = { ...remote, name: 'phone' }
    const before = await street.client({}, { principal })
    await before.request('session/resume', { sessionId, cwd: '/' })
    void before.request('session/prompt', prompt(sessionId, 'mine', 'p4'))
    await quiet()
    expect((await before.request('_parley/withdraw', { sessionId, promptId: 'p4' })).result).toEqual({
      withdrawn: true,
    })
    const after = await street.client({}, { principal })
    const adopted = { 'parley/prompts': [{ requestId: 9, promptId: 'p4' }] }
    await after.request('session/resume', { sessionId, cwd: '/', _meta: adopted })
    const again = await after.request('_parley/withdraw', { sessionId, promptId: 'p4' })
    expect(again.result).toEqual({ withdrawn: true })
  })
})

test('a session is unread until its user has seen the end on any device, also after a restart', async () => {
  let stored: StoredMarks = {}
  const house = new House()
  const seen = new SeenMarks({}, { now: () => house.clock.now(), save: async (marks) => void (stored = marks) })
  const street = openStreet(house, { seen })
  const watching = { clientCapabilities: { _meta: { 'parley/notifications': ['sessions'] } } }
  const page = await street.client(watching)
  const token = { transport: 'websocket', isLocalUser: false, role: 'read', person: 'token ci' } as const
  const stranger = await street.client(watching, { principal: token })
  const sessionId = await create(page)
  await quiet()
  await house.clock.advance(1)
  await page.request('session/prompt', prompt(sessionId, 'Hi'))
  await quiet()
  const rowAt = (client: typeof page) =>
    client
      .all('_parley/sessions')
      .flatMap(({ sessions }) => sessions as readonly Fields[])
      .at(-1)
  expect(rowAt(page)).toMatchObject({ sessionId, unread: true })
  const phone = await street.client()
  const seq = Number(rowAt(page)?.['lastSeq'])
  expect((await phone.request('_parley/seen', { sessionId, seq: seq + 5 })).result).toEqual({})
  await quiet()
  expect(rowAt(page)).toMatchObject({ unread: false })
  expect(rowAt(stranger)).toMatchObject({ unread: true })
  const [row] = await house.sessions.list({ limit: 1 })
  const after = new SeenMarks(stored, { now: () => 9, save: async () => undefined })
  expect(row && [after.isUnread('owner', row), after.isUnread('token ci', row)]).toEqual([false, true])
  await phone.request('_parley/seen', { sessionId, seq: 0 })
  await quiet()
  expect(rowAt(page)).toMatchObject({ unread: true })
})

test('an outline has all prompts with their sequence numbers', async () => {
  const client = await openStreet().client({ clientInfo: { name: 'editor', version: '1' } })
  const sessionId = await create(client)
  for (const words of ['first', 'x'.repeat(500)]) await client.request('session/prompt', prompt(sessionId, words))
  const { result } = await client.request('_parley/outline', { sessionId })
  expect(result).toMatchObject({
    prompts: [
      { turn: 't1', text: 'first', by: 'editor' },
      { turn: 't2', text: 'x'.repeat(200) },
    ],
  })
})

test('a client that asked gets a keep-alive at once and every 20 seconds; a ping is answered, `$/ping` ignored', async () => {
  const street = openStreet()
  const one = await street.client({ clientCapabilities: { _meta: { 'parley/notifications': ['alive'] } } })
  const other = await street.client()
  expect((await other.request('_parley/ping', {})).result).toEqual({})
  const before = other.received.length
  other.notify('$/ping', {})
  await one.request('_parley/ping', {})
  await street.house.clock.advance(1)
  expect(one.all('_parley/alive')).toHaveLength(1)
  await street.house.clock.advance(60_000)
  expect(one.all('_parley/alive')).toHaveLength(4)
  expect(other.received).toHaveLength(before)
  expect(street.house.reported).toEqual([])
})
