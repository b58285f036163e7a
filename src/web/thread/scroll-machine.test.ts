/** States × events of who decides where a conversation stands. */
import { describe, expect, test } from 'vitest'
import { type Geometry, type Scroll, next } from './scroll-machine.ts'

const held: Scroll = { kind: 'held' }
const free: Scroll = { kind: 'free', key: 'b', offset: -10 }
const jumping: Scroll = { kind: 'jumping', key: 'b', offset: -80 }

/** Rows a at 0, b at 300, c at 600; a view of 400 px. */
const ROWS: Readonly<Record<string, number>> = { a: 0, b: 300, c: 600 }
const at = (top: number, total = 1_000, tops = ROWS): Geometry => {
  const first = top < 300 ? { key: 'a', top: 0 } : { key: 'b', top: 300 }
  return { top, view: 400, total, first, topOf: (key) => tops[key] }
}
/** By the reader, unless the view or the rows were of another height before. */
const scrolledFrom = (top: number, { view = 400, total = 1_000, isGrabbed = false } = {}) =>
  ({ kind: 'scrolled', before: { top, view, total }, isGrabbed }) as const
const grown = { kind: 'laid out', isStill: false } as const

describe('held at the end', () => {
  test('follows what grows, at once', () =>
    expect(next(held, grown, at(600, 1_200))).toEqual({ state: held, top: 800 }))
  test('follows what shrinks', () => expect(next(held, grown, at(600, 900))).toEqual({ state: held, top: 500 }))
  test('writes nothing when it stands there', () => expect(next(held, grown, at(600)).top).toBeUndefined())
  test('is released by a pull upwards, at the row that is seen first', () =>
    expect(next(held, { kind: 'pulled up' }, at(600))).toEqual({
      state: { kind: 'free', key: 'b', offset: -300 },
      top: undefined,
    }))
  test('is not released where there is nothing above', () =>
    expect(next(held, { kind: 'pulled up' }, at(0, 300)).state).toEqual(held))
  test('is released by any movement upwards among the same rows', () =>
    expect(next(held, scrolledFrom(600), at(590)).state.kind).toBe('free'))
  test('is not released when only the end has moved away', () =>
    expect(next(held, scrolledFrom(600), at(600, 2_000)).state).toEqual(held))
  test('goes back to the end when the browser has moved it, since the view was higher for a moment', () => {
    const hold = { state: held, top: 600 }
    expect(next(held, scrolledFrom(590, { view: 410 }), at(550))).toEqual(hold)
    expect(next(held, scrolledFrom(580, { total: 980 }), at(550))).toEqual(hold)
  })
  test('is released when a list whose rows grow is dragged up by its scrollbar', () =>
    expect(next(held, scrolledFrom(580, { total: 980, isGrabbed: true }), at(550)).state.kind).toBe('free'))
})

describe('free', () => {
  test('its row stays when rows above grow', () =>
    expect(next(free, grown, at(310, 1_100, { a: 0, b: 400, c: 700 }))).toEqual({ state: free, top: 410 }))
  test('its row stays when older rows come before', () =>
    expect(next(free, grown, at(310, 5_000, { b: 4_300 })).top).toBe(4_310))
  test('what grows below moves nothing', () => expect(next(free, grown, at(310, 9_000)).top).toBeUndefined())
  test('a row that is gone is replaced by the one in view', () =>
    expect(next(free, grown, at(310, 1_000, {}))).toEqual({
      state: { kind: 'free', key: 'b', offset: -10 },
      top: undefined,
    }))
  test('is held again at the end, within a pixel', () =>
    expect(next(free, scrolledFrom(500), at(599)).state).toEqual(held))
  test('is not held by being near the end and going up', () =>
    expect(next(free, scrolledFrom(600), at(599)).state.kind).toBe('free'))
  test('is held when that is wanted', () =>
    expect(next(free, { kind: 'to the end' }, at(0))).toEqual({ state: held, top: 600 }))
})

describe('a jump', () => {
  test('goes to its row', () =>
    expect(next(held, { kind: 'jump', key: 'b', offset: -80 }, at(600))).toEqual({ state: jumping, top: 380 }))
  test('goes on while heights above become known, and is over when they are', () => {
    expect(next(jumping, grown, at(380, 2_000, { b: 900 }))).toEqual({ state: jumping, top: 980 })
    expect(next(jumping, { kind: 'laid out', isStill: true }, at(980, 2_000, { b: 900 }))).toEqual({
      state: { ...jumping, kind: 'free' },
      top: undefined,
    })
  })
  test('is not taken for a movement of the reader', () =>
    expect(next(jumping, scrolledFrom(600), at(100)).state).toEqual(jumping))
  test('stays within what there is', () =>
    expect(next(held, { kind: 'jump', key: 'c', offset: -80 }, at(0, 700)).top).toBe(300))
})
