/** The short version of `npm run kill -- docs`. */
import { expect, test } from 'vitest'
import { killWhileIndexing } from './kill.ts'

test(
  'kill -9 in the middle of re-indexing leaves every document as it was or as it is, and nothing half',
  { timeout: 120_000 },
  async () => {
    const { rounds, old, anew, both } = await killWhileIndexing(3)
    expect([rounds, both]).toEqual([3, []])
    expect(old + anew).toBeGreaterThan(0)
  },
)
