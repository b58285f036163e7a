/** What the reader of a share link without tools is sent. */
import { expect, test } from 'vitest'
import type { Transport } from './transport/transport.ts'
import { withoutToolOutput } from './without-tool-output.ts'

function sent(message: object): unknown {
  const all: string[] = []
  const transport = { send: (messages: readonly string[]) => all.push(...messages) } as unknown as Transport
  withoutToolOutput(transport).send([JSON.stringify(message)])
  return JSON.parse(all.join(''))
}

const about = (update: object) => ({
  method: 'session/update',
  params: { sessionId: 's', update, _meta: { 'parley/seq': 7 } },
})

test('a tool call keeps its title and status, and loses all other fields and the _meta of its agent', () => {
  const shown = { sessionUpdate: 'tool_call_update', toolCallId: 'c', title: 'Look', kind: 'read', status: 'completed' }
  const _meta = { claudeCode: { toolResponse: 'secret' }, terminal_output: { data: 'secret' } }
  const hidden = { content: ['secret'], rawInput: 'secret', rawOutput: 'secret', locations: ['secret'], _meta }
  expect(sent(about({ ...shown, ...hidden }))).toEqual(about(shown))
})

test('an unknown update keeps its kind alone', () => {
  const update = { sessionUpdate: 'terminal_output', data: 'secret', _meta: { x: 'secret' } }
  expect(sent(about(update))).toEqual(about({ sessionUpdate: 'terminal_output' }))
})

test.each(['agent_message_chunk', 'user_message_chunk', 'plan', 'usage_update', 'notice'])('a %s is whole', (kind) => {
  const message = about({ sessionUpdate: kind, content: { type: 'text', text: 'my tool' }, _meta: { x: 1 } })
  expect(sent(message)).toEqual(message)
})

test('passages of tools are left out of search results', () => {
  const passages = [
    { by: 'tool', text: 'secret' },
    { by: 'agent', text: 'An answer.' },
  ]
  expect(sent({ id: 1, result: { passages } })).toEqual({ id: 1, result: { passages: passages.slice(1) } })
})
