/** What is true of a conversation as a whole. */
import { expect, test } from 'vitest'
import { Conversation } from './conversation.ts'

const chunk = (at: number) => ({
  sessionId: 's',
  update: { sessionUpdate: 'agent_message_chunk', messageId: `m${at}`, content: { type: 'text', text: 'on' } },
  _meta: { 'parley/turn': 't1', 'parley/seq': at, 'parley/at': at },
})

test.each([
  ['right', 100_000, 60_000],
  ['two minutes behind', 20_000, 10_000],
])('a turn began as long ago as the server says, on a device whose clock is %s', (_clock, now, began) => {
  const talk = new Conversation()
  for (const at of [60_000, 70_000]) talk.take(chunk(at))
  expect(talk.beganAt(now)).toBe(began)
})

test('a conversation without turns has none that began', () => {
  expect(new Conversation().beganAt(0)).toBeUndefined()
})
