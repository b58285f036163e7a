import { expect, test } from 'vitest'
import { duration } from './language.ts'

test.each([
  [undefined, ''],
  [-1, ''],
  [0, ''],
  [49, ''],
  [50, '0.1 s'],
  [9_949, '9.9 s'],
  [10_400, '10 s'],
  [72_000, '1:12'],
])('%s ms are %j', (ms, expected) => expect(duration(ms)).toBe(expected))
