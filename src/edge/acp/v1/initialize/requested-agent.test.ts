import { expect, test } from 'vitest'
import { parseClientVariables } from './requested-agent.ts'

const saying = (lent: unknown) => ({ _meta: { 'parley/variables': lent } })

test('a client may send environment variables for models', () => {
  expect(parseClientVariables(saying({ OPENAI_API_KEY: 'k' }))).toEqual({ OPENAI_API_KEY: 'k' })
  expect([undefined, {}, { _meta: null }, saying(null)].map(parseClientVariables)).toEqual(Array(4).fill(undefined))
})

test.each([
  [[]],
  ['k'],
  [{ 'A=B': 'k3y' }],
  [{ A: 5 }],
  [{ A: 'k3y'.repeat(10_000) }],
  [Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`A${at}`, 'k3y']))],
])('malformed variables are refused, and not quoted', (lent) => {
  expect(() => parseClientVariables(saying(lent))).toThrow(/parley\/variables(?!.*k3y)/u)
})
