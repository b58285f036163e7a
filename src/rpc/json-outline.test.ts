import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { jsonOutlineOf } from './json-outline.ts'

function levelsOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(levelsOf))
}

function valuesOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1
  return Object.values(value).reduce<number>((sum, part) => sum + valuesOf(part), 1)
}

test('levels are counted exactly, and values at most twice', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(undefined, 2), (value, indent) => {
      const { levels, values } = jsonOutlineOf(JSON.stringify(value, undefined, indent))
      const parsed: unknown = JSON.parse(JSON.stringify(value))
      expect(levels).toBe(levelsOf(parsed))
      expect(values).toBeGreaterThanOrEqual(valuesOf(parsed))
      expect(values).toBeLessThanOrEqual(2 * valuesOf(parsed))
    }),
  )
})

test('id and method are those of the outermost object, wherever they stand', () => {
  const name = fc.string({ maxLength: 30 })
  fc.assert(
    fc.property(fc.jsonValue(), fc.oneof(fc.integer(), name), name, (value, id, method) => {
      const inside = { id: 'inner', method: 'inner', value }
      const messages = [
        { id, method, inside },
        { inside, method, id },
      ].map((message) => JSON.stringify(message))
      for (const text of messages) expect(jsonOutlineOf(text)).toMatchObject({ id, method })
    }),
  )
})

test('a value that is the word id or method is no name', () => {
  expect(jsonOutlineOf('{"id":7,"method":"id"}')).toMatchObject({ id: 7, method: 'id' })
  expect(jsonOutlineOf('{"method":"id","id":"method"}')).toMatchObject({ id: 'method', method: 'id' })
})

test('strings may contain quotes, brackets and backslashes', () => {
  const text = JSON.stringify({ 'id\\': '[[[{"id":3', id: '\\"[,,', more: '\\\\' })
  expect(jsonOutlineOf(text)).toEqual({ values: 4, levels: 1, id: '\\"[,,', method: undefined })
})

test('text that is not JSON has an outline too', () => {
  expect(jsonOutlineOf('"')).toMatchObject({ levels: 0 })
  expect(jsonOutlineOf('[[')).toMatchObject({ levels: 2 })
  expect(jsonOutlineOf('{"id":"\\x"}')).toMatchObject({ id: undefined })
})
