import { expect, test } from 'vitest'
import { journalError, outcomeOf } from './outcome.ts'

test.each([
  ['EPIPE', 'unknown'],
  ['ECONNRESET', 'unknown'],
  ['57P01', 'unknown'],
  ['23505', 'alone'],
  ['57014', 'again'],
  ['42P01', 'absent'],
  ['42601', 'failed'],
])('after %s the outcome of a statement is %s', (code, outcome) => {
  expect(outcomeOf(Object.assign(new Error('refused'), { code }))).toBe(outcome)
})

test('a password that was not given is a refusal in words', () => {
  const error = new Error('SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string')
  expect(journalError(error, 'postgres://parley@db/parley')).toMatchObject({
    code: 'PG_REFUSED',
    message: expect.stringContaining('it asks for a password, and none was given') as string,
  })
})
