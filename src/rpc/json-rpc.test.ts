import { expect, test } from 'vitest'
import { errorMessage, parseMessage, refuseCostly, requestBegunBy } from './json-rpc.ts'

const many = `[${'1,'.repeat(500_000)}1]`
const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`
const message = (rest: string) => `{"jsonrpc":"2.0",${rest}}`

test.each([
  [many, 'it has more than 500000 values'],
  [deep, 'it is nested more than 100000 levels deep'],
])('a request that is too costly to parse is refused under its id, without parsing it', (value, reason) => {
  // Not even JSON: whatever parsed it would say so.
  const text = message(`"id":"x","method":"session/list","params":{"a":${value},"b":nonsense}`)
  expect(refuseCostly(text)).toEqual({ kind: 'unreadable', id: 'x', problem: 'too_large', reason })
})

test('a response that is too costly to parse is a failure, and a notification an error', () => {
  const error = { message: 'it has more than 500000 values' }
  expect(refuseCostly(message(`"result":${many},"id":7`))).toMatchObject({ kind: 'response', id: 7, error })
  const notification = refuseCostly(message(`"method":"session/cancel","params":{"a":${many}}`))
  expect(notification).toMatchObject({ kind: 'unreadable', id: null, problem: 'too_large' })
})

test('a long text is read', () => {
  const text = '[,'.repeat(1_000_000)
  expect(refuseCostly(message(`"id":1,"method":"m","params":{"text":"${text}"}`))).toBeUndefined()
  expect(parseMessage(message(`"id":1,"method":"m","params":{"text":"${text}"}`))).toMatchObject({ params: { text } })
})

test.each([
  ['nonsense', 'malformed', 'it does not parse'],
  ['[]', 'invalid', 'batches are not part of ACP'],
  ['7', 'invalid', 'it is not an object'],
  ['{"id":1,"method":"m"}', 'invalid', 'jsonrpc must be "2.0"'],
  ['{"jsonrpc":"2.0","id":1,"method":2}', 'invalid', 'method must be a string'],
  ['{"jsonrpc":"2.0","id":1}', 'invalid', 'it has neither method nor result'],
  ['{"jsonrpc":"2.0","id":{},"method":"m"}', 'invalid', 'id must be a string or a number'],
])('%s is unreadable: %s, %s', (text, problem, reason) => {
  expect(parseMessage(text)).toEqual({ kind: 'unreadable', id: null, problem, reason })
})

test('wrong parameters of a request are refused under its id; those of a notification never, for it has no answer', () => {
  const refused = { kind: 'unreadable', id: 1, problem: 'invalid', reason: 'params must be an object' }
  expect(parseMessage(message('"id":1,"method":"m","params":"p"'))).toEqual(refused)
  const notification = { kind: 'notification', method: 'm', params: 5 }
  expect(parseMessage(message('"method":"m","params":5'))).toEqual(notification)
})

test('a request that is too long is known by its beginning, a response is not', () => {
  const begun = (text: string) => requestBegunBy(new TextEncoder().encode(text))
  expect(begun('{"jsonrpc":"2.0","id":"p1","method":"session/prompt","params":{"prompt":[{"data":"AAA')).toBe('p1')
  expect(begun('{"jsonrpc":"2.0","id":1,"result":{"content":"AAA')).toBeNull()
  expect(begun('{"method":"session/prompt","params":{"id":4,"prompt":"AAA')).toBeNull()
})

test('a client accepts responses with fields that foreign agents leave out', () => {
  expect(parseMessage('{"id":1,"method":"m"}', 'lenient')).toMatchObject({ kind: 'request', id: 1, method: 'm' })
  expect(parseMessage('{"id":1}', 'lenient')).toMatchObject({ kind: 'response', id: 1, error: undefined })
})

test.each([
  [{ code: -32000, message: 'no', data: { code: 'OWN' } }, 'OWN', 'no'],
  [{ code: -32000, message: '' }, '-32000', undefined],
  ['nothing usual', 'unknown', undefined],
])('an error %j is read as %s, %s', (error, code, said) => {
  const read = parseMessage(JSON.stringify({ jsonrpc: '2.0', id: 1, error }))
  expect(read).toMatchObject({ error: { code, message: said } })
})

test('an error is written on one line, and its texts are limited', () => {
  const details = { path: 'p'.repeat(5_000), line: 3 }
  const written = errorMessage(1, { code: 'C', rpc: -32000, message: 'two\nlines', retryable: true, details })
  const data = { code: 'C', retryable: true, path: `${'p'.repeat(4_095)}…`, line: 3 }
  const error = { code: -32000, message: 'two lines', data }
  expect(JSON.parse(written)).toEqual({ jsonrpc: '2.0', id: 1, error })
})
