/** How long appends took, of the last thousand. */
import { expect, test } from 'vitest'
import { RecentTimes, appendTimesOf } from './append-times.ts'

test('of the last thousand appends half were as fast as p50 says, and all but one in a hundred as p99 says', () => {
  const recent = new RecentTimes()
  expect(appendTimesOf(recent.times)).toBeUndefined()
  for (let ms = 1; ms <= 100; ms += 1) recent.add(ms)
  expect(appendTimesOf(recent.times)).toEqual({ p50: 50, p99: 99 })
  for (let more = 0; more < 1_000; more += 1) recent.add(7.04)
  expect(appendTimesOf(recent.times)).toEqual({ p50: 7, p99: 7 })
})
