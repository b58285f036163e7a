/** The cursor from which a session is resumed with a new server, for any state of the client. */
import { describe, expect, test } from 'vitest'
import { Talk, metaOf, of, opened } from '../../../test/fixtures/relay/talk.ts'
import { scanUpdateCursor } from './open-sessions.ts'

describe('a load that lost its connection', () => {
  const params = { sessionId: 's', cwd: '/w', mcpServers: [] }

  test('before its first update is repeated unchanged', () => {
    const talk = new Talk()
    talk.client({ id: 4, method: 'session/load', params })
    talk.lose()
    const [load] = talk.restore()
    expect(load).toMatchObject({ id: 4, method: 'session/load' })
    expect(metaOf(load)['parley/after']).toBe(0)
  })

  test('in the middle continues after the last update', () => {
    const talk = new Talk()
    talk.client({ id: 4, method: 'session/load', params })
    talk.update(1)
    talk.update(5)
    talk.lose()
    expect(metaOf(talk.restore()[0])['parley/after']).toBe(5)
    talk.update(9)
    expect(talk.server({ id: 4, result: { _meta: { 'parley/seq': 9 } } })).toHaveLength(1)
    talk.lose()
    expect(metaOf(of(talk.restore(), 'session/resume')[0])['parley/after']).toBe(9)
  })

  test('before its first update, for an open session: the session is resumed, then the load is repeated', () => {
    const talk = opened()
    talk.update(7)
    talk.client({ id: 4, method: 'session/load', params })
    talk.update(8)
    talk.lose()
    const [, resume, load] = talk.restore()
    expect(metaOf(resume)['parley/after']).toBe(8)
    expect(metaOf(load)).toEqual({})
  })

  test('before its first update, for an open session: a live notice does not count as its first update', () => {
    const talk = opened()
    talk.update(7)
    talk.client({ id: 4, method: 'session/load', params })
    talk.update(7)
    talk.lose()
    const restored = talk.restore()
    const afters = (method: string) => of(restored, method).map((one) => metaOf(one)['parley/after'])
    expect(afters('session/resume')).toEqual([7])
    expect(afters('session/load')).toEqual([undefined])
  })

  test('after its first update, for an open session: it replaces the open session', () => {
    const talk = opened()
    talk.update(7)
    talk.client({ id: 4, method: 'session/load', params })
    talk.update(2)
    talk.lose()
    const restored = talk.restore()
    expect(of(restored, 'session/resume')).toEqual([])
    expect(metaOf(of(restored, 'session/load')[0])['parley/after']).toBe(2)
  })
})

describe('a resume', () => {
  const params = { sessionId: 's', cwd: '/w' }

  test('starts at the sequence number that the server returns', () => {
    const talk = new Talk()
    talk.exchange(4, 'session/resume', { params, result: { _meta: { 'parley/seq': 30 } } })
    talk.lose()
    expect(metaOf(talk.restore()[0])['parley/after']).toBe(30)
  })

  test('with a cursor starts there', () => {
    const talk = new Talk()
    const _meta = { 'parley/after': 12 }
    talk.exchange(4, 'session/resume', { params: { ...params, _meta }, result: { _meta: { 'parley/seq': 30 } } })
    talk.lose()
    expect(metaOf(talk.restore()[0])['parley/after']).toBe(12)
  })

  test('of an open session loses no update that is on its way', () => {
    const talk = opened()
    talk.update(7)
    talk.exchange(4, 'session/resume', { params, result: { _meta: { 'parley/seq': 30 } } })
    talk.lose()
    expect(metaOf(of(talk.restore(), 'session/resume')[0])['parley/after']).toBe(7)
  })
})

const update = (fields: object, meta: object = { 'parley/seq': 42 }, sessionId = 's-1'): Buffer =>
  Buffer.from(
    `${JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params: { sessionId, update: fields, _meta: meta } })}\n`,
  )
const chunk = (text: string): object => ({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } })

test('the session and the cursor of an update are found', () => {
  expect(scanUpdateCursor(update(chunk('hello')))).toEqual({ sessionId: 's-1', seq: 42 })
})

test.each([
  ['a text that quotes a cursor', chunk('"parley/seq":7}}}')],
  [
    'a tool that was given one',
    { sessionUpdate: 'tool_call', toolCallId: 't', rawInput: { _meta: { 'parley/seq': 7 } } },
  ],
])('it is found in spite of %s', (_what, fields) => {
  expect(scanUpdateCursor(update(fields))).toEqual({ sessionId: 's-1', seq: 42 })
})

describe('an update that must be parsed', () => {
  test.each([
    ['a response', Buffer.from('{"jsonrpc":"2.0","id":1,"result":{"_meta":{"parley/seq":9}}}\n')],
    ['an update without a cursor', update(chunk('hello'), {})],
    ['a session whose name is written with escapes', update(chunk('hello'), { 'parley/seq': 1 }, 'a"b')],
    ['what may say that the session was closed', update({ sessionUpdate: 'session_info_update' })],
    [
      'other keys before the session',
      Buffer.from('{"jsonrpc":"2.0","method":"session/update","params":{"_meta":{}}}\n'),
    ],
  ])('%s', (_what, line) => {
    expect(scanUpdateCursor(line)).toBeUndefined()
  })
})
