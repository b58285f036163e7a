import { expect, test } from 'vitest'
import { LruMap } from './lru.ts'

test('the entries that were used last are kept', () => {
  const map = new LruMap<string, number>(2)
  map.set('a', 1)
  map.set('b', 2)
  expect(map.get('a')).toBe(1)
  expect(map.getOrMake('c', () => 3)).toBe(3)
  expect(map.getOrMake('a', () => 9)).toBe(1)
  expect(map.get('b')).toBeUndefined()
  expect([...map.values()]).toEqual([3, 1])
  map.delete('a')
  expect([...map.values()]).toEqual([3])
})
