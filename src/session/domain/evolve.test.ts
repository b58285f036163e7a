/** A state that is read from the journal equals the state that clients saw, wherever the journal is cut. */
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { created, turnStarted } from '../../../test/sim/words.ts'
import { live, replayed, wishes } from '../../../test/sim/wishes.ts'
import { evolve } from './evolve.ts'
import { absent, decodeState, encodeState } from './state.ts'

describe('any history of commands', () => {
  test('evolving any prefix of the journal gives the state of that moment', () => {
    fc.assert(
      fc.property(wishes, (wishes) => {
        const { stored, states } = live(wishes)
        for (const [cut, seen] of states.entries()) expect(replayed(stored.slice(0, cut))).toEqual(seen)
      }),
      { numRuns: 300 },
    )
  })

  test('a snapshot and the entries after it give the same state as the whole journal', () => {
    fc.assert(
      fc.property(wishes, (wishes) => {
        const { stored, states } = live(wishes)
        for (const [cut, state] of states.entries()) {
          if (state.phase === 'absent') continue
          const snapshot = decodeState(encodeState(state))
          expect(snapshot && replayed(stored.slice(cut), snapshot)).toEqual(states.at(-1))
        }
      }),
      { numRuns: 200 },
    )
  })
})

describe('a damaged journal', () => {
  const first = { ...created, seq: 1, at: 1 }
  test('with a gap in its numbers is refused', () => {
    const state = evolve(absent('s-1'), first)
    expect(() => evolve(state, { ...turnStarted(1, 'p1'), seq: 3, at: 3 })).toThrow('goes from entry 1 to 3')
  })
  test('that does not begin with session_created is refused', () => {
    expect(() => evolve(absent('s-1'), { ...turnStarted(1, 'p1'), seq: 1, at: 1 })).toThrow('goes from entry 0 to 1')
  })
  test('a snapshot in another format is ignored', () => {
    expect(decodeState(JSON.stringify({ format: 0, state: {} }))).toBeUndefined()
  })
})
