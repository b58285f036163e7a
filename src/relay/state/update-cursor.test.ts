import { describe, expect, test } from 'vitest'
import { scanUpdateCursor } from './update-cursor.ts'

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
])('%s does not mislead it', (_what, fields) => {
  expect(scanUpdateCursor(update(fields))).toEqual({ sessionId: 's-1', seq: 42 })
})

describe('only parsing can tell', () => {
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
