/** Calls of tools as servers of this format write them, each in its own way. */
import { expect, test } from 'vitest'
import { sse } from '../../../../test/model-server/format.ts'
import { heard } from '../../../../test/model-server/heard.ts'

const piece = (call: object) => sse({ choices: [{ index: 0, delta: { tool_calls: [call] }, finish_reason: null }] })
const begun = (index: number, id: unknown, json: unknown) =>
  piece({ index, id, type: 'function', function: { name: 'look', arguments: json } })
const more = (index: number, json: string) => piece({ index, function: { arguments: json } })
const IN_TURNS =
  begun(0, 'a', '{"p') + begun(1, 'b', '') + more(0, '":') + more(1, '{"p":2') + more(0, '1}') + more(1, '}')

test.each<[string, string, readonly unknown[]]>([
  ['split and in turns', IN_TURNS, [{ p: 1 }, { p: 2 }]],
  ['whole at once', begun(0, 'a', '{"p":1}'), [{ p: 1 }]],
  ['without an id', begun(0, undefined, '{"p":1}'), [{ p: 1 }]],
  ['with empty ids', begun(0, '', '{"p":1}') + begun(1, '', '{"p":2}'), [{ p: 1 }, { p: 2 }]],
  ['with one id twice', begun(0, 'a', '{"p":1}') + begun(1, 'a', '{"p":2}'), [{ p: 1 }, { p: 2 }]],
  ['with one place twice', begun(0, 'a', '{"p":1}') + begun(0, 'b', '{"p":2}'), [{ p: 1 }, { p: 2 }]],
  ['without arguments', begun(0, 'a', '') + begun(1, 'b', null) + begun(2, 'c', undefined), [{}, {}, {}]],
])('tool calls %s are parsed', async (_how, raw, args) => {
  const end = (await heard('openai', [{ raw }, { stop: 'calls' }])).at(-1)
  const calls = end?.kind === 'end' ? end.message.parts.filter((part) => part.kind === 'call') : []
  expect(calls.map((call) => [call.name, call.args])).toEqual(args.map((one) => ['look', one]))
  expect(new Set(calls.map(({ id }) => id)).size).toBe(args.length)
})

test.each([
  [{ prompt_tokens: -3, completion_tokens: 2 }, 2],
  [{ total_tokens: 3 }, 0],
  [null, 0],
])('usage of %j is never negative', async (usage, output) => {
  const text = sse({ choices: [{ index: 0, delta: { content: 'Hm.' }, finish_reason: null }] })
  const body = `${text}${sse({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage })}data: [DONE]\n\n`
  const parts = await heard('openai', [{ status: 200, body, headers: { 'content-type': 'text/event-stream' } }])
  expect(parts.at(-1)).toMatchObject({ kind: 'end', usage: { input: 0, output } })
})
