/** Every promise at once, on the real binary, is `npm run chaos`; here only that a seed says what happens. */
import { expect, test } from 'vitest'
import { chaosOf } from './plan.ts'

test('a seed of chaos that is typed in again gives the same plan', () => {
  expect(chaosOf(7)).toEqual(chaosOf(7))
  expect(chaosOf(7)).not.toEqual(chaosOf(8))
})
