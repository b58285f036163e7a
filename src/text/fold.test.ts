import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { fold, foldWithOffsets } from './fold.ts'

test('folding piece by piece gives the same text as folding at once', () => {
  const anything = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }))
  fc.assert(
    fc.property(anything, (text) => {
      const folded = foldWithOffsets(text)
      expect(folded.text).toBe(fold(text))
      expect(folded.starts).toHaveLength(folded.text.length)
    }),
    { numRuns: 500 },
  )
})

test('composed characters keep their offsets', () => {
  const text = 'ｶﾞｽ ᄒ\u1161\u11ab Σας'
  const folded = foldWithOffsets(text)
  expect(folded.text).toBe('ガス 한 σασ')
  expect(folded.starts).toEqual([0, 2, 3, 4, 7, 8, 9, 10])
  expect(folded.ends).toEqual([2, 3, 4, 7, 8, 9, 10, 11])
})
