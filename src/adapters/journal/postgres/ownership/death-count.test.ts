/** Who is counted out, renewal by renewal. */
import { expect, test } from 'vitest'
import { DeathCount } from './death-count.ts'

const at = (beat: number) => [{ boot: 'x', beat }]

test('a node is counted out after four renewals in which it did not move, and not before', () => {
  const count = new DeathCount()
  expect([7, 7, 7, 7].map((beat) => count.renewed(at(beat)).length)).toEqual([0, 0, 0, 0])
  expect(count.renewed(at(7))).toEqual(at(7))
})

test('a node that moves once is counted from the beginning', () => {
  const count = new DeathCount()
  expect([7, 7, 7, 7, 8, 8, 8, 8].flatMap((beat) => count.renewed(at(beat)))).toEqual([])
  expect(count.renewed(at(8))).toEqual(at(8))
})

test('a node that is gone and comes back under the same name is counted from the beginning', () => {
  const count = new DeathCount()
  for (const nodes of [at(7), at(7), at(7), at(7), [], at(7), at(7), at(7), at(7)])
    expect(count.renewed(nodes)).toEqual([])
})
