/** Event streams are split into messages: no event is delayed, however its bytes arrive. */
import { describe, expect, test } from 'vitest'
import { ANSWER_LOST, replaceIfTooCostly, MAX_VALUES, NOT_PARSED, messagesIn, withoutBatches } from './incoming-json.ts'

/** What has come out after each piece that went in. */
async function cameOut(pieces: readonly string[]): Promise<readonly string[]> {
  const source = new TransformStream<Uint8Array, Uint8Array>()
  const headers = { 'content-type': 'text/event-stream' }
  const { body } = await withoutBatches(new Response(source.readable, { headers }))
  const [reader, writer] = [body?.getReader(), source.writable.getWriter()]
  const decoder = new TextDecoder()
  const said: string[] = []
  const reading = (async () => {
    for (;;) {
      const { done = true, value } = (await reader?.read()) ?? {}
      if (done) return
      said.push(decoder.decode(value))
    }
  })()
  for (const piece of pieces) await writer.write(new TextEncoder().encode(piece))
  await writer.close()
  await reading
  return said
}

describe('an event whose lines end with a carriage return and a line feed', () => {
  test('is complete where the last line feed arrives later', async () => {
    expect(await cameOut(['data: {"a":1}\r\n\r', '\n'])).toEqual(['data: {"a":1}\r\n\r\n'])
  })

  test('is complete wherever it is split', async () => {
    const event = 'event: message\r\ndata: {"a":1}\r\n\r\n'
    for (let cut = 1; cut < event.length; cut += 1)
      expect([cut, await cameOut([event.slice(0, cut), event.slice(cut)])]).toEqual([cut, [event]])
  })

  test('is split into messages where its array has several lines', async () => {
    const said = await cameOut(['event: message\r\ndata: [{"a":1},\r\ndata: {"b":2}]\r\n\r\n'])
    expect(said.join('')).toBe('event: message\ndata: {"a":1}\n\nevent: message\ndata: {"b":2}\n\n')
  })
})

test.each(['\n', '\r\n'])('an array is split into messages where lines end with %j', async (end) => {
  const said = await cameOut([`data: [{"a":1},{"b":2}]${end}${end}`])
  expect(said.join('')).toBe('data: {"a":1}\n\ndata: {"b":2}\n\n')
})

const many = `[${'1,'.repeat(MAX_VALUES)}1]`
const deep = `${'['.repeat(40_000)}${']'.repeat(40_000)}`
const answer = (result: string) => `{"result":${result},"jsonrpc":"2.0","id":7}`
const refused = (message: string) => ({ jsonrpc: '2.0', id: 7, error: { code: NOT_PARSED, message } })

const error = (code: number, message: string) => ({ jsonrpc: '2.0', id: 7, error: { code, message } })
const lost = error(ANSWER_LOST, 'the server answered with neither a result nor an error')
const malformed: readonly (readonly [string, object])[] = [
  ['"result":{"a":1},"error":null', { jsonrpc: '2.0', id: 7, result: { a: 1 } }],
  ['"result":null,"error":{"code":1,"message":"no"}', error(1, 'no')],
  ['"result":{},"error":{"code":1,"message":"no"}', error(1, 'no')],
  ['"error":"no"', error(-32_603, 'no')],
  ['"error":{"code":"E","message":5}', error(-32_603, 'the server gave no reason')],
  ['"result":null', { jsonrpc: '2.0', id: 7, result: {} }],
  ['"error":null', lost],
  ['"result":"words"', lost],
  ['"result":[]', lost],
]

test.each(malformed)('an answer with %s ends its request, for the SDK would ignore it', async (rest, read) => {
  const text = `{${rest},"jsonrpc":"2.0","id":7}`
  expect(messagesIn(text)).toEqual([read])
  const overHttp = async (body: string, type: string) =>
    (await withoutBatches(new Response(body, { headers: { 'content-type': type } }))).text()
  expect(JSON.parse(await overHttp(text, 'application/json'))).toEqual(read)
  const [, data = ''] = /^data: (.*)\n\n$/u.exec(await overHttp(`data: ${text}\n\n`, 'text/event-stream')) ?? []
  expect(JSON.parse(data)).toEqual(read)
})

test('answers of too many values or levels become errors with their ids', () => {
  expect(messagesIn(answer(many))).toEqual([refused('has more than 1000000 values')])
  expect(messagesIn(answer(deep))).toEqual([refused('is nested more than 1000 levels deep')])
})

test('a request with too many values keeps its method and loses its parameters', () => {
  const question = `{"jsonrpc":"2.0","id":7,"method":"roots/list","params":{"a":${many}}}`
  expect(messagesIn(question)).toEqual([{ jsonrpc: '2.0', id: 7, method: 'roots/list', params: {} }])
})

test('long texts and lists of usual length pass unchanged', () => {
  for (const result of [JSON.stringify('[,"\\'.repeat(1_000_000)), `[${'1,'.repeat(100_000)}1]`])
    expect(replaceIfTooCostly(answer(result))).toBe(answer(result))
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
