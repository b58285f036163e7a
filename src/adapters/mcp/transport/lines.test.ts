import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { LineTooLong, lineCutter } from './lines.ts'

test('lines come out as they went in, wherever the pieces were cut', () => {
  fc.assert(
    fc.property(fc.array(fc.stringMatching(/^[a-zé火 ]{0,9}$/)), fc.array(fc.nat(20)), (lines, cuts) => {
      const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''))
      const cut = lineCutter(100)
      const seen: string[] = []
      let from = 0
      for (const size of [...cuts, bytes.length]) {
        seen.push(...cut(bytes.subarray(from, from + size)))
        from += size
      }
      expect(seen).toEqual(lines)
    }),
  )
})

test('a line that never ends is given up', () => {
  const cut = lineCutter(10)
  expect(cut(Buffer.from('0123456789'))).toEqual([])
  expect(() => cut(Buffer.from('x'))).toThrow(LineTooLong)
})
