import { expect, test } from 'vitest'
import { isParleyError } from '../../errors/parley-error.ts'
import { parseMessage } from './protocol.ts'

const many = `[${'1,'.repeat(500_000)}1]`
const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`
const message = (rest: string) => `{"jsonrpc":"2.0",${rest}}`

test.each([
  [many, 'it has more than 500000 values'],
  [deep, 'it is nested more than 100000 levels deep'],
])('a request that is too costly to parse is refused under its id, unread', (value, reason) => {
  // Not even JSON: whatever parsed it would say so.
  const text = message(`"id":"x","method":"session/list","params":{"a":${value},"b":nonsense}`)
  const refused = parseMessage(text)
  expect(refused).toMatchObject({ kind: 'refused', id: 'x', error: { code: 'MESSAGE_TOO_LARGE', details: { reason } } })
})

test('an answer that is too costly to parse is a failure, and a notification an error', () => {
  expect(parseMessage(message(`"result":${many},"id":7`))).toMatchObject({ kind: 'response', id: 7, failed: true })
  const refuse = () => parseMessage(message(`"method":"session/cancel","params":{"a":${many}}`))
  expect(refuse).toThrow(expect.objectContaining({ code: 'MESSAGE_TOO_LARGE' }))
  expect(refuse).toThrow(expect.toSatisfy(isParleyError))
})

test('a long text is read', () => {
  const text = '[,'.repeat(1_000_000)
  expect(parseMessage(message(`"id":1,"method":"m","params":{"text":"${text}"}`))).toMatchObject({ params: { text } })
})
