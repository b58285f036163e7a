import { describe, expect, test } from 'vitest'
import { GrowingTranscript, cancelled, emptyTranscript, withUpdates } from './transcript.ts'
import type { Update } from '../incoming/updates.ts'

const chunk = (who: string, text: string, messageId?: string): Update => ({
  sessionUpdate: `${who}_chunk`,
  content: { type: 'text', text },
  ...(messageId === undefined ? {} : { messageId }),
})

function textsOf(updates: readonly Update[]): readonly string[] {
  return withUpdates(emptyTranscript, updates).items.map((item) => {
    if (item.kind !== 'message') return item.kind
    return `${item.role}: ${item.content.map(({ type, text }) => (type === 'text' ? text : type)).join('|')}`
  })
}

test('chunks of one message are one message, even with something between', () => {
  const updates = [
    chunk('user_message', 'Hi', 'u'),
    chunk('agent_message', 'Hel', 'm'),
    { sessionUpdate: 'tool_call', toolCallId: 't', title: 'Look' },
    chunk('agent_message', 'lo', 'm'),
    chunk('agent_thought', 'hm', 'm2'),
  ]
  expect(textsOf(updates)).toEqual(['user: Hi', 'agent: Hello', 'tool_call', 'thought: hm'])
})

test('without ids, a message goes on until something else is said', () => {
  const updates = [
    chunk('agent_message', 'a'),
    chunk('agent_message', 'b'),
    chunk('agent_thought', 'c'),
    chunk('agent_message', 'd'),
  ]
  expect(textsOf(updates)).toEqual(['agent: ab', 'thought: c', 'agent: d'])
})

test('content that is no text stands by itself', () => {
  const image = { sessionUpdate: 'agent_message_chunk', content: { type: 'image', data: '' }, messageId: 'm' }
  expect(textsOf([chunk('agent_message', 'a', 'm'), image, chunk('agent_message', 'b', 'm')])).toEqual([
    'agent: a|image|b',
  ])
})

test('a tool call is what its updates say together, also when the first of them was missed', () => {
  const { items } = withUpdates(emptyTranscript, [
    { sessionUpdate: 'tool_call', toolCallId: 't', title: 'Look', status: 'pending', rawInput: { a: 1 } },
    { sessionUpdate: 'tool_call_update', toolCallId: 't', status: 'completed' },
    { sessionUpdate: 'tool_call_update', toolCallId: 'late', title: 'Late' },
  ])
  expect(items).toEqual([
    { kind: 'tool_call', call: { toolCallId: 't', title: 'Look', status: 'completed', rawInput: { a: 1 } } },
    { kind: 'tool_call', call: { toolCallId: 'late', title: 'Late' } },
  ])
})

test('plan, commands and title are the latest; what we have no word for is kept as it came', () => {
  const usage = { sessionUpdate: 'usage_update', used: 3 }
  const transcript = withUpdates(emptyTranscript, [
    { sessionUpdate: 'plan', entries: [{ content: 'old' }] },
    { sessionUpdate: 'plan', entries: [{ content: 'new' }] },
    { sessionUpdate: 'available_commands_update', availableCommands: [{ name: 'help' }] },
    { sessionUpdate: 'session_info_update', title: 'A talk' },
    { sessionUpdate: 'session_info_update', updatedAt: 'now' },
    usage,
  ])
  expect(transcript).toEqual({
    items: [{ kind: 'other', update: usage }],
    plan: [{ content: 'new' }],
    commands: [{ name: 'help' }],
    title: 'A talk',
  })
})

test('the transcript before is left as it was', () => {
  const before = withUpdates(emptyTranscript, [chunk('agent_message', 'a', 'm')])
  const copy = structuredClone(before)
  withUpdates(before, [chunk('agent_message', 'b', 'm'), chunk('agent_message', 'c', 'n')])
  expect(before).toEqual(copy)
})

describe('an update costs the same, however much was said before:', () => {
  const kinds: Readonly<Record<string, (n: number) => Update>> = {
    'messages of their own': (n) => chunk('agent_message', 'w', `m${n}`),
    'chunks of one message': () => chunk('agent_message', 'w', 'm'),
    'messages without ids': (n) => chunk(n % 2 === 0 ? 'agent_message' : 'agent_thought', 'w'),
    'images in one message': () => ({
      sessionUpdate: 'agent_message_chunk',
      content: { type: 'image', data: '' },
      messageId: 'm',
    }),
    'tool calls': (n) => ({ sessionUpdate: 'tool_call', toolCallId: `t${n}`, title: 'Look' }),
    'news of one tool call among many': (n) => ({
      sessionUpdate: 'tool_call_update',
      toolCallId: n < 30 ? `t${n}` : 't0',
      status: 'completed',
    }),
    'what we have no word for': () => ({ sessionUpdate: 'hologram' }),
  }
  /** How often items are looked at or changed while the last of so many updates is taken. */
  function touchesOfLast(update: (n: number) => Update, count: number): number {
    const growing = new GrowingTranscript()
    for (let n = 0; n < count; n += 1) growing.take(update(n))
    let touches = 0
    const items = new Proxy(growing.items, {
      get(target, key) {
        touches += 1
        return Reflect.get(target, key) as unknown
      },
    })
    Object.defineProperty(growing, 'items', { value: items })
    growing.take(update(count))
    return touches
  }

  test.each(Object.entries(kinds))('%s', (_what, update) => {
    expect(touchesOfLast(update, 4_000)).toBeLessThanOrEqual(touchesOfLast(update, 40))
  })
})

test('what was told before stays as it was, whatever comes', () => {
  const before = withUpdates(emptyTranscript, [
    chunk('agent_message', 'a', 'm'),
    { sessionUpdate: 'tool_call', toolCallId: 't' },
  ])
  const copy = structuredClone({ ...before, items: [...before.items] })
  const after = withUpdates(before, [
    chunk('agent_message', 'b', 'm'),
    { sessionUpdate: 'tool_call_update', toolCallId: 't', status: 'completed' },
    { sessionUpdate: 'plan', entries: [{ content: 'x' }] },
  ])
  expect(cancelled(after).items).not.toBe(after.items)
  expect({ ...before, items: [...before.items] }).toEqual(copy)
  expect(after.items).toHaveLength(2)
})
