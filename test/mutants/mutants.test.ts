/** Every mechanism that can be taken out on purpose is still where its table says, and so is the test that misses it. */
import { expect, test } from 'vitest'
import { mutants as promises } from '../kill/mutants.ts'
import { misfit, spoilt } from './mutant.ts'

const root = new URL('../..', import.meta.url).pathname

test('every mutant can be made, and its test is there', () => {
  expect(promises.map((mutant) => misfit(root, mutant)).filter((why) => why !== undefined)).toEqual([])
})

test('one whose text or test is gone is an error', () => {
  const file = 'src/session/domain/decide.ts'
  const mutant = { mechanism: 'x', file, text: 'nobody wrote this', by: '', test: [file, 'nor this'] } as const
  expect(misfit(root, mutant)).toContain('has no longer')
  expect(misfit(root, { ...mutant, text: 'export const QUEUE_LIMIT = 32' })).toContain('has no longer a test')
  expect(misfit(root, { ...mutant, text: 'return' })).toContain('times')
})

test('what takes its place is written as it stands', () => {
  expect(spoilt('a b c', { text: 'b', by: '$& $1' })).toBe('a $& $1 c')
})
