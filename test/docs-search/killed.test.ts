/** The short version of `npm run kill -- docs`. */
import { expect, test } from 'vitest'
import { playSeries, seedsFrom } from '../series/series.ts'
import { DocsKill } from './kill.ts'

test('kill -9 in the middle of re-indexing leaves every document as it was or as it is, and nothing half', async () => {
  await using kill = await DocsKill.open()
  const rounds = await playSeries({ units: seedsFrom(1), runs: 3, jobs: 1 }, kill)
  expect(rounds.flatMap(({ wrong }) => wrong)).toEqual([])
  expect(rounds.map(({ old, anew }) => old + anew > 0)).toEqual([true, true, true])
  await kill.allFound()
})
