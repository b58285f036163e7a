/** A small part of `npm run conformance -- fuzz`, from a seed that is always the same. */
import { expect, test } from 'vitest'
import { fuzz, seedOf } from './fuzz.ts'
import { chanceOf } from '../../series/chance.ts'
import { inputOf } from './inputs.ts'

test('hostile input harms neither the server nor any other client, and every session loads after it', async () => {
  const { crashes, hangs, lost, faults } = await fuzz({ inputs: 4000, seed: 7 })
  expect({ crashes, hangs, lost, faults }).toEqual({ crashes: [], hangs: [], lost: [], faults: [] })
}, 180_000)

test('the same seed makes the same inputs', () => {
  const from = (seed: number): string => {
    const chance = chanceOf(seed)
    const world = { cwd: '/w', sessions: ['s'], id: () => 'r' }
    return Array.from({ length: 50 }, () => inputOf(chance, world).bytes.toString('latin1').slice(0, 300)).join('')
  }
  expect(from(seedOf(1, 2))).toBe(from(seedOf(1, 2)))
  expect(from(seedOf(1, 2))).not.toBe(from(seedOf(1, 3)))
})
