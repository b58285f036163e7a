import { expect, test } from 'vitest'
import { ReadingPace } from './reading-pace.ts'

/** Reads that come at these times, of one line each unless it is said; which of them is followed by a pause. */
function paused(reads: readonly { readonly at: number; readonly lines?: number; readonly bytes?: number }[]): number[] {
  let now = 0
  const pace = new ReadingPace({ monotonicNow: () => now, sleep: () => Promise.resolve() })
  return reads.flatMap(({ at, lines = 1, bytes = 200 }) => {
    now = at
    return pace.next(lines, bytes) === undefined ? [] : [at]
  })
}

const everyMs = (from: number, until: number) =>
  Array.from({ length: until - from }, (_, index) => ({ at: from + index }))

test('an agent that writes a thousand lines a second one by one is read in pieces, once that is certain', () => {
  expect(paused(everyMs(0, 60))).toEqual(everyMs(50, 60).map(({ at }) => at))
})

test.each([
  ['a turn of a few words', everyMs(0, 49)],
  ['two turns of a few words', [...everyMs(0, 20), ...everyMs(5_000, 5_020)]],
  ['an agent at the pace of a model', Array.from({ length: 200 }, (_, index) => ({ at: index * 10 }))],
])('%s is read as it comes', (_what, reads) => expect(paused(reads)).toEqual([]))

test.each([
  ['a read that brings much is followed by the next at once', [{ at: 60, lines: 40, bytes: 8 * 1024 }]],
  ['once its lines come slowly again they are read as they come', [{ at: 200 }, { at: 210 }]],
])('%s', (_what, then) => {
  expect(paused([...everyMs(0, 60), ...then])).toEqual(everyMs(50, 60).map(({ at }) => at))
})
