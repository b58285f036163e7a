/** When clients hear that their node may have been counted out. */
import { expect, test } from 'vitest'
import { TestClock } from '../../../../test/sim/clock.ts'
import { type Certainty, Standing } from './standing.ts'

test('clients hear once that their node is uncertain, and once that it is certain again', async () => {
  const clock = new TestClock()
  const standing = new Standing(clock)
  const heard: Certainty[] = []
  const stop = standing.watch((now) => heard.push(now))
  standing.renewed(2_500)
  await clock.advance(1_000)
  standing.renewed(2_500)
  await clock.advance(2_400)
  expect(heard).toEqual([])
  await clock.advance(10_000)
  expect(heard).toEqual(['uncertain'])
  for (const left of [2_400, 2_500]) standing.renewed(left)
  expect(heard).toEqual(['uncertain', 'certain'])
  stop()
  await clock.advance(10_000)
  expect(heard).toHaveLength(2)
  standing.end()
})
