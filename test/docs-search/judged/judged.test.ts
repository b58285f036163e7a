import { expect, test } from 'vitest'
import { compare } from './compare.ts'
import { queries } from './judge.ts'

test('on the judged queries the server finds more, and further up, than substrings and trigrams, and always something', async () => {
  const count = (group: string) => queries().filter((query) => query.group === group).length
  expect([count('english'), count('chinese'), count('mixed')]).toEqual([60, 60, 30])
  const { passages, rows } = await compare()
  expect(passages).toBeGreaterThanOrEqual(2_000)
  for (const { group, half, score } of rows.filter(({ system }) => system === 'parley')) {
    expect([group, half, score.empty]).toEqual([group, half, []])
    const others = rows.filter((row) => row.system !== 'parley' && row.group === group && row.half === half)
    for (const other of others) {
      expect([group, half, 'recall', score.recall > other.score.recall]).toEqual([group, half, 'recall', true])
      expect([group, half, 'nDCG', score.ndcg > other.score.ndcg]).toEqual([group, half, 'nDCG', true])
    }
  }
})
