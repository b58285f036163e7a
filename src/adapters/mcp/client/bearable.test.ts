import { expect, test } from 'vitest'
import { saidIn, withoutBatches } from './batches.ts'
import { bearable, MOST_VALUES, NOT_PARSED } from './bearable.ts'

const many = `[${'1,'.repeat(MOST_VALUES)}1]`
const deep = `${'['.repeat(40_000)}${']'.repeat(40_000)}`
const answer = (result: string) => `{"result":${result},"jsonrpc":"2.0","id":7}`
const refused = (message: string) => ({ jsonrpc: '2.0', id: 7, error: { code: NOT_PARSED, message } })

test('answers of too many values or levels become errors with their ids', () => {
  expect(saidIn(answer(many))).toEqual([refused('has more than 1000000 values')])
  expect(saidIn(answer(deep))).toEqual([refused('is nested more than 1000 levels deep')])
})

test('a question with too many values keeps its method and loses its parameters', () => {
  const question = `{"jsonrpc":"2.0","id":7,"method":"roots/list","params":{"a":${many}}}`
  expect(saidIn(question)).toEqual([{ jsonrpc: '2.0', id: 7, method: 'roots/list', params: {} }])
})

test('long texts and lists of a length that people use pass as they are', () => {
  for (const result of [JSON.stringify('[,"\\'.repeat(1_000_000)), `[${'1,'.repeat(100_000)}1]`])
    expect(bearable(answer(result))).toBe(answer(result))
})

test.each([
  ['application/json', (text: string) => text],
  ['text/event-stream', (text: string) => `id: 1\ndata: ${text}\n\n`],
])('answers over HTTP as %s are replaced as well', async (type, wrap) => {
  const response = new Response(wrap(answer(many)), { headers: { 'content-type': type } })
  const text = await (await withoutBatches(response)).text()
  expect(text.slice(0, 200).replace(/^id: 1\ndata: |\n\n$/gu, '')).toBe(
    JSON.stringify(refused('has more than 1000000 values')),
  )
})
