import { expect, test } from 'vitest'
import { ParleyError } from '../../errors/parley-error.ts'
import { exitOfError, exitOfStop, worse } from './exit-codes.ts'

test.each([
  ['end_turn', 0],
  ['refusal', 3],
  ['max_tokens', 4],
  ['max_turn_requests', 5],
  ['cancelled', 130],
  ['what a later version says', 1],
  ['constructor', 1],
])('a turn that ends with %s exits %i', (end, code) => expect(exitOfStop(end)).toBe(code))

test('an error exits 75 if trying again later may help, 2 if a setting is wrong, and else 1', () => {
  const interrupted = new ParleyError('TURN_INTERRUPTED', { session: 's' })
  const wrong = new ParleyError('CONFIG_INVALID', { key: 'agent', value: '"x"', reason: 'why' })
  expect([interrupted, wrong, new Error('x')].map(exitOfError)).toEqual([75, 2, 1])
})

test.each([
  [0, 4, 4],
  [3, 5, 3],
  [130, 3, 130],
  [75, 130, 75],
  [1, 75, 1],
])('of two exit codes %i and %i, the worse is %i', (a, b, end) => {
  expect([worse(a, b), worse(b, a)]).toEqual([end, end])
})
