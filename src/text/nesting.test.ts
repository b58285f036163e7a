import { expect, test } from 'vitest'
import { isNestedDeeper } from './nesting.ts'

const nested = (levels: number): unknown => JSON.parse(`${'{"a":['.repeat(levels / 2)}${']}'.repeat(levels / 2)}`)

test('flat and nested values', () => {
  expect(isNestedDeeper('a', 0)).toBe(false)
  expect(isNestedDeeper([], 0)).toBe(true)
  expect(isNestedDeeper([], 1)).toBe(false)
  expect(isNestedDeeper([null], 1)).toBe(false)
  expect(isNestedDeeper(nested(10), 9)).toBe(true)
  expect(isNestedDeeper(nested(10), 10)).toBe(false)
})

test('a million levels', () => expect(isNestedDeeper(nested(1_000_000), 1_000)).toBe(true))
