import { expect, test } from 'vitest'
import { outcomeOf } from './outcome.ts'

test.each([
  ['EPIPE', 'unknown'],
  ['ECONNRESET', 'unknown'],
  ['57P01', 'unknown'],
  ['23505', 'alone'],
  ['42P01', 'absent'],
  ['42601', 'failed'],
])('after %s the outcome of a statement is %s', (code, outcome) => {
  expect(outcomeOf(Object.assign(new Error('refused'), { code }))).toBe(outcome)
})
