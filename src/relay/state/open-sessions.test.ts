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

  test.each([
    ['before its first update: the session is resumed, then the load is repeated', 8, [8], [undefined]],
    ['before its first update: a live notice does not count as that', 7, [7], [undefined]],
    ['after its first update: it replaces the open session', 2, [], [2]],
  ])('for an open session, %s', (...[, seq, resumes, loads]) => {
    const talk = opened()
    talk.update(7)
    talk.client({ id: 4, method: 'session/load', params })
    talk.update(seq)
    talk.lose()
    const restored = talk.restore()
    const afters = (method: string) => of(restored, method).map((one) => metaOf(one)['parley/after'])
    expect([afters('session/resume'), afters('session/load')]).toEqual([resumes, loads])
  })
})

describe('a resume', () => {
  test.each([
    ['starts at the sequence number that the server returns', {}, 30],
    ['with a cursor starts there', { 'parley/after': 12 }, 12],
  ])('%s', (_what, _meta, after) => {
    const talk = new Talk()
    const params = { sessionId: 's', cwd: '/w', _meta }
    talk.exchange(4, 'session/resume', { params, result: { _meta: { 'parley/seq': 30 } } })
    talk.lose()
    expect(metaOf(talk.restore()[0])['parley/after']).toBe(after)
  })

  test('of an open session loses no update that is on its way', () => {
    const talk = opened()
    talk.update(7)
    const params = { sessionId: 's', cwd: '/w' }
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

const given = { sessionUpdate: 'tool_call', toolCallId: 't', rawInput: { _meta: { 'parley/seq': 7 } } }
test.each([
  ['an update', chunk('hello')],
  ['a text that quotes a cursor', chunk('"parley/seq":7}}}')],
  ['a tool that was given one', given],
])('the session and the cursor of %s are found', (_what, fields) => {
  expect(scanUpdateCursor(update(fields))).toEqual({ sessionId: 's-1', seq: 42 })
})

const other = '{"jsonrpc":"2.0","method":"session/update","params":{"_meta":{}}}\n'
test.each([
  ['a response', Buffer.from('{"jsonrpc":"2.0","id":1,"result":{"_meta":{"parley/seq":9}}}\n')],
  ['an update without a cursor', update(chunk('hello'), {})],
  ['a session whose name is written with escapes', update(chunk('hello'), { 'parley/seq': 1 }, 'a"b')],
  ['what may say that the session was closed', update({ sessionUpdate: 'session_info_update' })],
  ['other keys before the session', Buffer.from(other)],
])('an update must be parsed: %s', (_what, line) => expect(scanUpdateCursor(line)).toBeUndefined())
